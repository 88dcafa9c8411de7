import { constants, createReadStream, lstatSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { DiskError } from './state-folder.ts';

/** A file of ours that somebody fetches: its bytes in pieces, as many as it had when it was asked for. */
export interface OutputFile {
  readonly bytes: number;
  readonly pieces: AsyncIterable<Uint8Array>;
}

/** All that may be fetched of our directory, by its whole path in there. None leads out of it. */
const OUTPUT_PATHS = [
  // collected/go-profiles/20261115T102233123Z-3f9a-heap.pprof
  /^collected\/[a-z][a-z-]*\/\d{8}T\d{9}Z-[\da-f]{4}-[a-z][\w.-]*$/,
  // results/0f8fad5b-d9cb-469f-a165-70867728950e/9b74c9897bac770ffc029102a200c5de
  /^results\/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\/[\da-f]{32}$/,
];

/** Undefined when there is no such file, or none that may be fetched. */
export function openOutput(stateFolder: string, path: string): OutputFile | undefined {
  const file = outputAt(stateFolder, path);
  return file && { bytes: file.bytes, pieces: piecesOf(file.path, file.bytes) };
}

/** The same for one piece of it. */
export async function readOutput(
  stateFolder: string,
  path: string,
  { offset, bytesMax }: { readonly offset: number; readonly bytesMax: number },
): Promise<{ readonly bytes: number; readonly chunk: Uint8Array } | undefined> {
  const output = outputAt(stateFolder, path);
  if (!output) return undefined;
  const file = await open(output.path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const chunk = Buffer.alloc(Math.min(bytesMax, Math.max(output.bytes - offset, 0)));
    const { bytesRead } = await file.read(chunk, 0, chunk.length, offset);
    return { bytes: output.bytes, chunk: chunk.subarray(0, bytesRead) };
  } finally {
    await file.close();
  }
}

function outputAt(stateFolder: string, path: string) {
  if (!OUTPUT_PATHS.some((form) => form.test(path))) return undefined;
  const whole = join(stateFolder, path);
  const status = lstatSync(whole, { throwIfNoEntry: false });
  return status?.isFile() ? { path: whole, bytes: status.size } : undefined;
}

/** Nothing is opened before somebody reads. What has become shorter must not look whole. */
async function* piecesOf(path: string, bytes: number): AsyncGenerator<Uint8Array> {
  if (bytes === 0) return;
  let left = bytes;
  for await (const piece of createReadStream(path, { end: bytes - 1 })) {
    left -= (piece as Buffer).length;
    yield piece as Buffer;
  }
  if (left > 0) throw new DiskError(`${path} has become shorter while it was read`);
}
