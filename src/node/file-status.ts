import { lstatSync } from 'node:fs';
import type { FileStatus } from './node-reader.ts';

/** What a path is, without following it when it is a link. */
export function statusOf(here: Buffer): FileStatus {
  const status = lstatSync(here, { bigint: true });
  return {
    type: typeOf(status),
    mode: Number(status.mode) & 0o7777,
    owner: Number(status.uid),
    device: deviceText(status.dev),
    inode: String(status.ino),
    links: Number(status.nlink),
    sizeBytes: Number(status.size),
    modifiedMs: Number(status.mtimeMs),
  };
}

function typeOf(status: {
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
  isSocket(): boolean;
}): FileStatus['type'] {
  if (status.isFile()) return 'file';
  if (status.isDirectory()) return 'folder';
  if (status.isSymbolicLink()) return 'link';
  return status.isSocket() ? 'socket' : 'other';
}

/** The C library packs the two numbers of a device into one; the mount table prints them apart. */
function deviceText(packed: bigint): string {
  const major = ((packed >> 8n) & 0xfffn) | ((packed >> 32n) & 0xfffff000n);
  const minor = (packed & 0xffn) | ((packed >> 12n) & 0xffffff00n);
  return `${major}:${minor}`;
}
