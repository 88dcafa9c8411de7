import {
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  rmdirSync,
  writeSync,
} from 'node:fs';
import { bytesOf } from '../../lib/std/text-codec.ts';
import { orCode } from '../reader/read-file.ts';
import type { PinnedFolder, RemovalJob } from './removal.ts';

/**
 * The hand that removes empty directories: a child process, because a disk that hangs would hang us. It
 * says what became of each at once, so that what it did is known wherever it ends, and it ends with
 * its parent.
 *
 * What the kernel makes sure of itself, in rmdir(2), under the lock of the directory: it takes a directory
 * and follows no link in the last name (ENOTDIR), it takes none that holds anything (ENOTEMPTY), and
 * none on which something is mounted in our own mount namespace (EBUSY). The directories above are held
 * open, each reached from the one before without following a link, so nobody can lead us elsewhere.
 *
 * What it does not: that it is still the same directory, and that no other namespace has something
 * mounted on it, for since Linux 3.18 such a mount is quietly removed. The first is checked just
 * before; the second by our parent, in the mount tables of all namespaces, for each job again.
 */
export function runRemover(): void {
  const job = JSON.parse(readFileSync(0, 'utf8')) as RemovalJob;
  const parent = process.ppid;
  const folder = openBelow(KUBELET_ROOT, job.folder);
  const { dev } = fstatSync(folder, { bigint: true });
  const begun = performance.now();
  for (const [index, pinned] of job.leftovers.entries()) {
    // Our parent has died: its successor settles what it meant to do.
    if (process.ppid !== parent) return;
    say(pinned.name, remove(folder, pinned, { ...job, dev }));
    const aheadMs = begun + ((index + 1) * 1000) / job.perSecond - performance.now();
    if (aheadMs > 1) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, aheadMs);
  }
}

/** The kubelet's root directory: our parent holds it, and passes it on. */
const KUBELET_ROOT = 3;

/** Walks down from there by open directories: a link in the way is an error, not a way. */
function openBelow(root: number, path: string): number {
  const flags = constants.O_RDONLY | constants.O_DIRECTORY;
  let here = root;
  for (const name of path.split('/').filter(Boolean)) {
    here = openSync(entryOf(here, name), flags | constants.O_NOFOLLOW);
  }
  return here;
}

function entryOf(folder: number, name: string): Buffer {
  return Buffer.concat([Buffer.from(`/proc/self/fd/${folder}/`), bytesOf(name)]);
}

const CODES: Readonly<Record<string, string>> = {
  ENOTEMPTY: 'it is not empty',
  EEXIST: 'it is not empty',
  EBUSY: 'the kernel calls it busy: something is mounted on it',
  ENOTDIR: 'it is no directory',
};

/** Null when it is gone, else why it stays. */
function remove(
  folder: number,
  { name, inode }: PinnedFolder,
  { dev, changedUntilMs }: { readonly dev: bigint; readonly changedUntilMs: number },
): string | null {
  const here = entryOf(folder, name);
  const { value = null, code } = orCode(() => {
    const status = lstatSync(here, { bigint: true });
    if (!status.isDirectory()) return 'it is no directory';
    if (status.dev !== dev) return 'something is mounted on it';
    if (String(status.ino) !== inode) return 'it was recreated since it was diagnosed';
    if (Number(status.mtimeMs) > changedUntilMs) return 'it is too young';
    rmdirSync(here);
    return null;
  });
  if (code === undefined) return value;
  return code === 'ENOENT' ? null : (CODES[code] ?? `the kernel answers ${code}`);
}

function say(name: string, why: string | null): void {
  const line = Buffer.from(`${JSON.stringify([name, why])}\n`);
  for (let at = 0; at < line.length; ) at += writeSync(1, line, at);
}
