import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from 'node:fs';
import type { FileStatus } from '../model/node-reader.ts';
import { orCode, unlessFailed } from './read-file.ts';

/** Of open(2), and not among Node's constants: a handle that asks nobody and opens nothing. */
const O_PATH = 0o10000000;

/**
 * What a path is, without following it when it is a link. It is held meanwhile by a handle that does
 * not even ask a dead server: should this never return, the kernel shows which mount we wait on,
 * also when another has come over it since.
 */
export function statusOf(here: Buffer): FileStatus {
  const { value: handle } = orCode(() => openSync(here, O_PATH | constants.O_NOFOLLOW));
  try {
    return statusUnheld(here);
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

/** The same without the handle, for what is known to be no mount: it would add nothing. */
export function statusUnheld(here: Buffer): FileStatus {
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

/** Standard input, output and error. Node has read them before we run, so they do not hang us. */
const DESCRIPTORS = [0, 1, 2];

/**
 * The mounts that our input and output lie on, each with its device ("254:1"). The shell opened them,
 * perhaps in a mount namespace that no process of the node is in, so no table may show them.
 */
export function ownMounts(): ReadonlyMap<number, string> {
  return new Map(DESCRIPTORS.flatMap((descriptor) => mountOf(descriptor) ?? []));
}

function mountOf(descriptor: number): readonly (readonly [number, string])[] | undefined {
  return unlessFailed(IS_CLOSED, () => {
    const info = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8');
    const { dev } = fstatSync(descriptor, { bigint: true });
    // mnt_id:	1042
    const id = /^mnt_id:\s*(\d+)$/m.exec(info)?.[1];
    return id === undefined ? [] : [[Number(id), deviceText(dev)]];
  });
}

const IS_CLOSED: ReadonlySet<string> = new Set(['ENOENT', 'EBADF']);
