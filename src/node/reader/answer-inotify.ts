import { createHash } from 'node:crypto';
import { closeSync, openSync, readdirSync, readlinkSync, readSync } from 'node:fs';
import { type InotifyInstance, ReadError } from '../model/node-reader.ts';
import { pidsIn } from './answer-processes.ts';
import { INOTIFY_BYTES_MAX } from './limits.ts';
import { procIn } from './path-in-root.ts';
import { IS_DENIED, tableText, unlessFailed, unlessGone } from './read-file.ts';

const INOTIFY = 'anon_inode:inotify';
const CHUNK_BYTES = 64 * 1024;

/** Every inotify instance that a process holds; one that a child inherited counts once. */
export function inotifyInstances(
  hostRoot: string,
  bytesMax = INOTIFY_BYTES_MAX,
): readonly InotifyInstance[] {
  const proc = procIn(hostRoot);
  // Bytes that all instances together may still take.
  const budget = { left: bytesMax };
  const held = pidsIn(proc).flatMap((pid) => unlessGone(() => heldBy(proc, pid, budget)) ?? []);
  const all = new Set(held.map(({ instance, hash }) => key(instance.pid, instance, hash)));
  return held
    .filter(({ parent, instance, hash }) => !all.has(key(parent, instance, hash)))
    .map(({ instance }) => instance);
}

interface Held {
  readonly instance: InotifyInstance;
  readonly parent: number;
  /** Of its watches. */
  readonly hash: string;
}

function key(pid: number, { descriptor }: InotifyInstance, hash: string): string {
  return `${pid} ${descriptor} ${hash}`;
}

function heldBy(proc: string, pid: string, budget: { left: number }): readonly Held[] {
  const folder = `${proc}/${pid}`;
  const descriptors = readdirSync(`${folder}/fd`).filter(
    (name) => unlessGone(() => readlinkSync(`${folder}/fd/${name}`)) === INOTIFY,
  );
  if (descriptors.length === 0) return [];
  const status = tableText(`${folder}/status`);
  // Name:	kubelet
  const process = /^Name:\t(.*)$/m.exec(status)?.[1] ?? '';
  // PPid:	1
  const parent = Number(/^PPid:\t(\d+)$/m.exec(status)?.[1]);
  // Uid:	1000	0	0	0, of which the second is the effective one. Since 4.9 inotify_init charges that
  // of its caller; that a process has changed it since then cannot be seen.
  const user = Number(/^Uid:\t\d+\t(\d+)/m.exec(status)?.[1]);
  const userNamespace = unlessFailed(IS_DENIED, () => readlinkSync(`${folder}/ns/user`)) ?? null;
  return descriptors.flatMap((name) => {
    const seen = unlessGone(() => watchesIn(`${folder}/fdinfo/${name}`, budget));
    if (seen === undefined) return [];
    const ids = { pid: Number(pid), process, user, userNamespace, descriptor: Number(name) };
    return [{ instance: { ...ids, watches: seen.count }, parent, hash: seen.hash }];
  });
}

/** Counts the watches and stores none: a user may have a million of them. */
function watchesIn(path: string, budget: { left: number }): { count: number; hash: string } {
  const hash = createHash('sha256');
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  const file = openSync(path, 'r');
  let count = 0;
  let rest = '';
  try {
    for (;;) {
      const length = readSync(file, chunk, 0, CHUNK_BYTES, null);
      if (length === 0) return { count, hash: hash.digest('hex') };
      budget.left -= length;
      if (budget.left < 0) {
        throw new ReadError('too-large', '/proc', 'too many inotify watches to count');
      }
      const lines = `${rest}${chunk.toString('latin1', 0, length)}`.split('\n');
      rest = lines.pop() ?? '';
      // inotify wd:1 ino:2a8f sdev:fe00000 mask:2 ignored_mask:0 fhandle-bytes:8 ...
      const watches = lines.filter((line) => line.startsWith('inotify '));
      count += watches.length;
      hash.update(watches.map((line) => `${line}\n`).join(''));
    }
  } finally {
    closeSync(file);
  }
}
