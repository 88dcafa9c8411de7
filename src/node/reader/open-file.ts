import { closeSync, constants, fstatSync, openSync, statSync } from 'node:fs';
import { ReadError } from '../model/node-reader.ts';

/** Opens a plain file for as long as it is used, and nothing that only looks like one. */
export function withFile<T>(here: Buffer, path: string, use: (file: number) => T): T {
  // Checked before it is opened: opening some devices has an effect (a watchdog starts to count).
  if (!statSync(here).isFile()) throw notAFile(path);
  // Without O_NONBLOCK, a pipe put in its place since would make us wait for a writer.
  const file = openSync(here, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    if (!fstatSync(file).isFile()) throw notAFile(path);
    return use(file);
  } finally {
    closeSync(file);
  }
}

function notAFile(path: string): ReadError {
  return new ReadError('failed', path, 'it is not a file');
}
