import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Writes a new file that only this user can read. Throws an error with a code if the path exists:
 * it follows no link, waits for no pipe and overwrites no file. On a filesystem with hard links,
 * the file gets its name only when it is complete.
 */
export function writeNewFile(path: string, bytes: Uint8Array, link = linkSync): void {
  const unfinished = join(dirname(path), `.kubediag-${randomBytes(8).toString('hex')}`);
  try {
    writeExclusively(unfinished, bytes);
  } catch (error) {
    // The user knows the requested path, not that of the temporary file.
    throw error instanceof Error ? Object.assign(error, { path }) : error;
  }
  try {
    // Unlike rename, link fails if the path exists.
    link(unfinished, path);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw existing(path);
    if (!NO_LINKS.includes(code)) throw error;
    refuseExisting(path);
    writeExclusively(path, bytes);
  } finally {
    rmSync(unfinished, { force: true });
  }
}

/** Errors of filesystems without hard links: FAT, some of FUSE and of networks. */
const NO_LINKS: readonly string[] = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'];

/** Throws if the path exists, so that a caller can check before it collects the content. */
export function refuseExisting(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })) throw existing(path);
}

function existing(path: string): Error {
  const isFolder = lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  const why = isFolder
    ? 'it is a directory: name a file in it'
    : 'the file exists, and is not overwritten: remove it, or name another';
  return Object.assign(new Error(why), { code: 'EEXIST' });
}

function writeExclusively(path: string, bytes: Uint8Array): void {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const file = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
    fsyncSync(file);
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
}
