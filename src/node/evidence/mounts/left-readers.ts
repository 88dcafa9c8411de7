import { attempt, defineEvidence, type Snapshot } from '../../model/evidence.ts';
import { type ProcessEntry, READER_NAME } from '../../model/node-reader.ts';
import type { Thread } from '../../model/thread.ts';
import { LEFT_READER_AGE_S, LEFT_READERS_ASKED_MAX } from '../limits.ts';
import { ageOf, processes, uptimeOf } from '../processes/processes.ts';
import type { Mount } from './mount-table.ts';

/** A reader that an earlier run left behind: killed but blocked in the kernel, or a stray. */
export interface LeftReader {
  readonly pid: number;
  /** statx, newfstatat, openat...: a system call that only reads. */
  readonly call: string;
  /** As the reader sees it: "/host/proc/812/root/var/lib/kubelet/pods/...". */
  readonly path: string;
  /** The mounts that it holds by O_PATH descriptors; empty if it has not opened any. */
  readonly mounts: readonly number[];
}

export interface LeftReaders {
  readonly readers: readonly LeftReader[];
  /** All readers left behind, also if we do not know what they wait for. */
  readonly count: number;
  /** Processes with the name of a reader that are not recognised as one, and why. */
  readonly unknowns: ReadonlyMap<number, string>;
}

/**
 * Any process can have this name. A process is harmless only if it was killed: then the kernel ends
 * it as soon as its current system call returns. So we require a pending SIGKILL, root as its user,
 * and a parent that is gone; any other process may belong to another program. A reader that was not
 * killed must be proven to run our own program (`isStray`).
 */
export const leftReaders = defineEvidence<LeftReaders>({
  id: 'left-readers',
  title: 'Readers that earlier runs left behind',
  collect: async (snapshot) => {
    const all = await snapshot.of(processes);
    const named = all.filter(({ name }) => name === READER_NAME);
    if (named.length === 0) return { readers: [], count: 0, unknowns: new Map() };
    const uptime = await attempt(uptimeOf(snapshot));
    const nowS = uptime.known ? uptime.value : Number.NaN;
    const byPid = new Map(all.map((process) => [process.pid, process]));
    const readers: LeftReader[] = [];
    const unknowns = new Map<number, string>();
    let count = 0;
    for (const [index, process] of named.entries()) {
      const seen =
        unknownOfParent(process, byPid.get(process.parent), nowS) ??
        (index < LEFT_READERS_ASKED_MAX ? await judge(snapshot, process.pid) : TOO_MANY);
      if (typeof seen !== 'string') readers.push(seen);
      else unknowns.set(process.pid, seen);
      if (typeof seen !== 'string' || seen === NO_PATH || seen === TOO_MANY) count += 1;
    }
    return { readers, count, unknowns };
  },
});

const ENDED = 'it has ended meanwhile';
const NO_PATH = 'it is in no call that only reads a path';
const TOO_MANY = `more than ${LEFT_READERS_ASKED_MAX} processes have that name`;

/** The process names of our program that starts readers, on any version of Node.js. */
const STARTS_READERS: ReadonlySet<string> = new Set(['MainThread', 'node', 'kubediag']);

/** A process whose parent exits gets process 1, or a subreaper, as its new parent. */
function unknownOfParent(
  { parent, startTime }: ProcessEntry,
  adopter: ProcessEntry | undefined,
  nowS: number,
): string | undefined {
  if (parent > 1 && adopter && STARTS_READERS.has(adopter.name)) {
    return `its parent ${adopter.name} (pid ${parent}) lives, and may be a kubediag at work`;
  }
  const ageS = ageOf(startTime, nowS) ?? 0;
  if (ageS >= LEFT_READER_AGE_S) return undefined;
  return 'it was started only a moment ago, or its age is not known';
}

/** The reader that was left behind on a path, or why the process is not recognised as one. */
async function judge(snapshot: Snapshot, pid: number): Promise<LeftReader | string> {
  const { node } = snapshot;
  const status = await attempt(node.ask('file', { path: `/proc/${pid}/status` }));
  if (!status.known) return status.error.failure === 'missing' ? ENDED : status.why;
  if (!isRoots(status.value)) return 'it is not of root';
  if (!isKilled(status.value) && !(await isStray(snapshot, pid, status.value))) {
    return 'it was not killed, so it may still be in use';
  }
  const threads = await attempt(node.ask('threads', { threadsOf: pid }));
  if (!threads.known) return threads.why;
  const waits = threads.value.find(isSnapshot);
  if (!waits?.callName || !waits.path) return NO_PATH;
  const asked = { filesOf: pid, under: [], mountIds: 'each' } as const;
  const files = await attempt(node.ask('openFiles', asked));
  if (!files.known) return files.why;
  const mounts: number[] = [];
  for (const { by, mount } of files.value) {
    if (mount === undefined) continue;
    const place = `/proc/${pid}/${by.replace('fd/', 'fdinfo/')}`;
    const info = await attempt(node.ask('file', { path: place }));
    if (info.known && isHandle(info.value)) mounts.push(mount);
  }
  return { pid, call: waits.callName, path: waits.path, mounts };
}

const LOOKS: ReadonlySet<string> = new Set([
  ...['stat', 'lstat', 'newfstatat', 'statx', 'statfs', 'access', 'faccessat', 'faccessat2'],
  ...['readlink', 'readlinkat', 'open', 'openat', 'openat2'],
]);

function isSnapshot({ callName, state }: Thread): boolean {
  return callName !== null && LOOKS.has(callName) && (state === 'D' || state === 'S');
}

const O_PATH = 0o10000000;

/** An O_PATH descriptor cannot read or write; it only identifies a path. */
function isHandle(info: string): boolean {
  // flags:	012400000
  const flags = /^flags:\t([0-7]+)$/m.exec(info)?.[1];
  return flags !== undefined && (Number.parseInt(flags, 8) & O_PATH) !== 0;
}

/** The message about a process with the name of our readers that may belong to another program. */
export function unknownMessage(pid: number, why: string | undefined): string {
  if (why === undefined) return '';
  return (
    `; it has the name of a reader that kubediag leaves behind on a dead path, but ${why}: let ` +
    `the kubediag that started it come to its end, or see what it is by /proc/${pid} and end it`
  );
}

/**
 * Undefined if a process holds a mount only because it is a reader of ours that was left behind;
 * else why it may be a user of the mount.
 */
export async function unknownUse(
  snapshot: Snapshot,
  { pid, processName, file }: { pid: number; processName: string; file: { mount?: number } },
): Promise<{ readonly words: string } | undefined> {
  if (processName !== READER_NAME) return { words: '' };
  const seen = await judge(snapshot, pid);
  if (seen === ENDED) return undefined;
  if (typeof seen === 'string') return { words: unknownMessage(pid, seen) };
  if (file.mount !== undefined && seen.mounts.includes(file.mount)) return undefined;
  return { words: unknownMessage(pid, 'it holds more than a handle') };
}

/** The reader that waits on one of these mounts of one filesystem; undefined if there is none. */
export function waitingReader(
  { readers }: LeftReaders,
  mounts: readonly Mount[],
): { readonly reader: LeftReader; readonly isSure: boolean } | undefined {
  const ids = new Set(mounts.map(({ id }) => id));
  const sure = readers.find((reader) => reader.mounts.some((id) => ids.has(id)));
  if (sure) return { reader: sure, isSure: true };
  // A reader that holds a mount waits on that mount. For other readers only the path is known.
  const there = readers.find(
    (reader) =>
      reader.mounts.length === 0 &&
      mounts.some(({ target }) => `${reader.path}/`.includes(`${target}/`)),
  );
  return there && { reader: there, isSure: false };
}

/**
 * Readers of ours that were not killed and whose parent has exited. A reader kills itself when its
 * parent exits; readers of earlier versions did not.
 */
export async function strayReaders(snapshot: Snapshot): Promise<readonly ProcessEntry[]> {
  const named = (await snapshot.of(processes)).filter(({ name }) => name === READER_NAME);
  const strays: ProcessEntry[] = [];
  for (const process of named.slice(0, LEFT_READERS_ASKED_MAX)) {
    const status = await attempt(
      snapshot.node.ask('file', { path: `/proc/${process.pid}/status` }),
    );
    if (!status.known || !isRoots(status.value) || isKilled(status.value)) continue;
    if (await isStray(snapshot, process.pid, status.value)) strays.push(process);
  }
  return strays;
}

/**
 * Any process can have the name of a reader. A stray also runs the same file as we do, and its
 * parent runs another program: a reader in use is always a child of a kubediag process.
 */
async function isStray(snapshot: Snapshot, pid: number, status: string): Promise<boolean> {
  // PPid:	1
  const parent = /^PPid:\t([1-9]\d*)$/m.exec(status)?.[1];
  const ours = await programOf(snapshot, 'self');
  if (ours === undefined || parent === undefined) return false;
  if ((await programOf(snapshot, pid)) !== ours) return false;
  const parents = await programOf(snapshot, parent);
  return parents !== undefined && parents !== ours;
}

/**
 * Device and inode of the program of a process. Does not follow /proc/PID/exe, because that
 * accesses a filesystem, which may be dead.
 */
async function programOf({ node }: Snapshot, pid: number | string): Promise<string | undefined> {
  const [program, maps] = await Promise.all([
    attempt(node.ask('link', { path: `/proc/${pid}/exe` })),
    attempt(node.ask('file', { path: `/proc/${pid}/maps` })),
  ]);
  if (!program.known || !maps.known) return undefined;
  // 00400000-00e68000 r--p 00000000 fe:01 131                     /usr/local/bin/kubediag
  const line = maps.value.split('\n').find((each) => each.endsWith(` ${program.value}`));
  return /^\S+ \S+ \S+ (\S+ [1-9]\d*) /.exec(line ?? '')?.[1];
}

function isRoots(status: string): boolean {
  // Uid:	0	0	0	0
  return /^Uid:\t0\t0\t0\t0$/m.test(status);
}

const SIGKILL = 1n << 8n;

/** SIGKILL is pending for a thread, or for the process. */
function isKilled(status: string): boolean {
  // SigPnd:	0000000000000100
  const pending = [...status.matchAll(/^(?:SigPnd|ShdPnd):\t([0-9a-f]+)$/gm)];
  return pending.some(([, bits]) => (BigInt(`0x${bits}`) & SIGKILL) !== 0n);
}
