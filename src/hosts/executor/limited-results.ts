import { lstatSync, readdirSync } from 'node:fs';
import { link } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { prepareFolder, syncFolder, type Tried, tried } from '../../lib/state/state-folder.ts';
import { counted } from '../../lib/std/counted.ts';
import { Semaphore } from '../../lib/std/semaphore.ts';
import {
  type FolderResults,
  largeResultsIn,
  resultPath,
} from '../../pipeline/diagnosis/large-results.ts';
import { RESULT_FILES_MAX, RESULTS_BYTES_MAX } from './limits.ts';

export interface LimitedResults extends FolderResults {
  readonly pathOf: (uid: string, file: string) => string;
  /** Stores a file that is on the disk already: as a hard link, or as a copy where there are none. */
  readonly storeLink: (
    uid: string,
    file: string,
    from: { readonly path: string; readonly bytes: Uint8Array },
  ) => Promise<Tried<void>>;
}

/**
 * Large results and files of steps in a directory, with a limit for all of them: an agent cannot fill
 * the disk of the node.
 */
export function limitedResults(
  folder: string,
  bytesMax = RESULTS_BYTES_MAX,
  filesMax = RESULT_FILES_MAX,
): LimitedResults {
  const results = largeResultsIn(folder);
  const oneAtATime = new Semaphore(1);
  const within = (path: string, more: number, store: () => Promise<Tried<void>>) =>
    oneAtATime.run(async (): Promise<Tried<void>> => {
      const used = await tried(usageOf(folder, path));
      if (!used.ok) return used;
      const { files, bytes } = used.value;
      if (files < filesMax && bytes + more <= bytesMax) return store();
      const held = `${folder} holds ${counted(files, 'file')} of ${bytes} bytes`;
      const limit = `the limit is ${counted(filesMax, 'file')} of ${bytesMax} bytes`;
      return { ok: false, why: `${held}, and ${limit}; delete Diagnoses of this node` };
    });
  return {
    ...results,
    pathOf: (uid, file) => resultPath(folder, uid, file),
    store: (uid, file, content) =>
      within(`${uid}/${file}`, Buffer.byteLength(content), () => results.store(uid, file, content)),
    storeLink: (uid, file, { path, bytes }) =>
      within(`${uid}/${file}`, bytes.length, async () => {
        const linked = await tried(linkTo(path, folder, uid, file));
        return linked.ok ? linked : results.store(uid, file, bytes);
      }),
    remove: (uid) => oneAtATime.run(() => results.remove(uid)),
    // The list of the agent lacks Diagnoses whose steps it requests later: they store nothing before this ends.
    retain: (uids) => oneAtATime.run(() => results.retain(uids)),
  };
}

async function linkTo(from: string, folder: string, uid: string, file: string): Promise<void> {
  const path = resultPath(folder, uid, file);
  await prepareFolder(dirname(path));
  await link(from, path);
  await syncFolder(dirname(path));
}

/** Without the file that is replaced. */
async function usageOf(folder: string, replaced: string) {
  await prepareFolder(folder);
  let [files, bytes] = [0, 0];
  for (const uid of readdirSync(folder)) {
    for (const file of readdirSync(join(folder, uid))) {
      if (`${uid}/${file}` === replaced) continue;
      files += 1;
      bytes += lstatSync(join(folder, uid, file)).size;
    }
  }
  return { files, bytes };
}
