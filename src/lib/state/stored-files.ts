import { randomBytes } from 'node:crypto';
import { constants, lstatSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { STORED_BYTES_MAX, STORED_FILES_MAX } from './limits.ts';
import {
  makeFolder,
  prepareFolder,
  syncFolder,
  type Tried,
  tried,
  writeContent,
} from './state-folder.ts';

/** A collected file that is too large, or not useful, for a status. */
export interface StoredFile {
  /** Files of one kind share a directory and its limits: "go-profiles". */
  readonly kind: string;
  /** The end of its name: "heap.pprof". */
  readonly name: string;
  readonly bytes: Uint8Array;
}

/**
 * Stores a file below our directory, where only root can read it, and returns its path. The oldest
 * files of its kind are removed, so nothing has to be cleaned up.
 */
export async function storeFile(stateFolder: string, file: StoredFile): Promise<Tried<string>> {
  return tried(stored(stateFolder, file));
}

async function stored(stateFolder: string, { kind, name, bytes }: StoredFile): Promise<string> {
  // A directory that another user can write could redirect us to another file.
  await prepareFolder(stateFolder);
  const folder = join(stateFolder, 'collected', kind);
  const created = makeFolder(folder);
  if (created !== undefined) await syncFolder(dirname(created));
  // The time comes first, so the oldest sort first; two of the same moment do not collide.
  const time = new Date().toISOString().replace(/[-:.]/g, '');
  const path = join(folder, `${time}-${randomBytes(2).toString('hex')}-${name}`);
  await writeContent(path, bytes, constants.O_EXCL);
  await syncFolder(folder);
  removeOldest(folder);
  return path;
}

// 20261115T102233123Z-3f9a-heap.pprof
const OURS = /^\d{8}T\d{9}Z-/;

function removeOldest(folder: string): void {
  const newestFirst = readdirSync(folder)
    .filter((name) => OURS.test(name))
    .toSorted()
    .toReversed();
  let bytes = 0;
  for (const [index, name] of newestFirst.entries()) {
    const path = join(folder, name);
    bytes += lstatSync(path).size;
    // The newest file always stays.
    if (index > 0 && (index >= STORED_FILES_MAX || bytes > STORED_BYTES_MAX)) rmSync(path);
  }
}
