import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { type InotifyInstance, ReadError } from '../model/node-reader.ts';
import { IS_DENIED, IS_GONE, unlessFailed } from './ignore-failure.ts';
import { PROCESSES_MAX } from './limits.ts';
import { pathInRoot } from './path-in-root.ts';
import { tableText } from './read-to-end.ts';

const INOTIFY = 'anon_inode:inotify';

/** Every inotify instance that a process holds; one that a child inherited counts once. */
export function inotifyInstances(hostRoot: string): readonly InotifyInstance[] {
  const proc = pathInRoot(hostRoot, '/proc', 'follow').toString('utf8');
  // 812
  const pids = readdirSync(proc).filter((name) => /^\d+$/.test(name));
  if (pids.length > PROCESSES_MAX) {
    throw new ReadError('too-large', '/proc', `more than ${PROCESSES_MAX} processes`);
  }
  const held = pids.flatMap((pid) => unlessGone(() => heldBy(proc, pid)) ?? []);
  const all = new Set(
    held.map(({ instance, watchLines }) => key(instance.pid, instance, watchLines)),
  );
  return held
    .filter(({ parent, instance, watchLines }) => !all.has(key(parent, instance, watchLines)))
    .map(({ instance }) => instance);
}

interface Held {
  readonly instance: InotifyInstance;
  readonly parent: number;
  readonly watchLines: string;
}

function key(pid: number, { descriptor }: InotifyInstance, watchLines: string): string {
  return `${pid} ${descriptor} ${watchLines}`;
}

function heldBy(proc: string, pid: string): readonly Held[] {
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
  // Uid:	0	0	0	0, of which the first is the real one, which the kernel charges.
  const user = Number(/^Uid:\t(\d+)/m.exec(status)?.[1]);
  const userNamespace = unlessFailed(IS_DENIED, () => readlinkSync(`${folder}/ns/user`)) ?? null;
  return descriptors.flatMap((name) => {
    const info = unlessGone(() => readFileSync(`${folder}/fdinfo/${name}`, 'utf8'));
    if (info === undefined) return [];
    // inotify wd:1 ino:2a8f sdev:fe00000 mask:2 ignored_mask:0 fhandle-bytes:8 ...
    const watchLines = info.split('\n').filter((line) => line.startsWith('inotify '));
    const ids = { pid: Number(pid), process, user, userNamespace, descriptor: Number(name) };
    const instance = { ...ids, watches: watchLines.length };
    return [{ instance, parent, watchLines: watchLines.join('\n') }];
  });
}

function unlessGone<T>(read: () => T): T | undefined {
  return unlessFailed(IS_GONE, read);
}
