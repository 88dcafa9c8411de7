import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { prepareFolder, tried } from '../../lib/state/state-folder.ts';
import { Semaphore } from '../../lib/std/semaphore.ts';
import { type LargeResults, largeResultsIn } from '../../pipeline/diagnosis/large-results.ts';
import { RESULT_FILES_MAX, RESULTS_BYTES_MAX } from './limits.ts';

/** Large results in a directory, with a limit for all of them: an agent cannot fill the disk of the node. */
export function limitedResults(
  folder: string,
  bytesMax = RESULTS_BYTES_MAX,
  filesMax = RESULT_FILES_MAX,
): LargeResults {
  const results = largeResultsIn(folder);
  const oneAtATime = new Semaphore(1);
  return {
    ...results,
    store: (uid, file, text) =>
      oneAtATime.run(async () => {
        const used = await tried(usageOf(folder));
        if (!used.ok) return used;
        const { files, bytes } = used.value;
        if (files < filesMax && bytes + Buffer.byteLength(text) <= bytesMax) {
          return results.store(uid, file, text);
        }
        const why = `${folder} holds ${files} results of ${bytes} bytes, and the limit is ${filesMax} results of ${bytesMax} bytes`;
        return { ok: false, why: `${why}; delete Diagnoses of this node with large results` };
      }),
  };
}

async function usageOf(folder: string) {
  await prepareFolder(folder);
  let [files, bytes] = [0, 0];
  for (const uid of readdirSync(folder)) {
    for (const file of readdirSync(join(folder, uid))) {
      files += 1;
      bytes += lstatSync(join(folder, uid, file)).size;
    }
  }
  return { files, bytes };
}
