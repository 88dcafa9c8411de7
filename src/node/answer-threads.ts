import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { PATH_BYTES_MAX, THREADS_MAX } from './limits.ts';
import { ReadError, type Thread } from './node-reader.ts';
import { pathInRoot } from './path-in-root.ts';
import { textOf } from './text-codec.ts';
import { orCode } from './unless-failed.ts';

/** A system call that takes a path, and which of its arguments that is. */
interface PathCall {
  readonly name: string;
  readonly argument: number;
}

const PATH_CALLS: Readonly<Record<string, Readonly<Record<number, PathCall>>>> = {
  x64: {
    2: { name: 'open', argument: 0 },
    4: { name: 'stat', argument: 0 },
    6: { name: 'lstat', argument: 0 },
    21: { name: 'access', argument: 0 },
    80: { name: 'chdir', argument: 0 },
    82: { name: 'rename', argument: 0 },
    83: { name: 'mkdir', argument: 0 },
    84: { name: 'rmdir', argument: 0 },
    87: { name: 'unlink', argument: 0 },
    89: { name: 'readlink', argument: 0 },
    137: { name: 'statfs', argument: 0 },
    166: { name: 'umount2', argument: 0 },
    257: { name: 'openat', argument: 1 },
    258: { name: 'mkdirat', argument: 1 },
    262: { name: 'newfstatat', argument: 1 },
    263: { name: 'unlinkat', argument: 1 },
    264: { name: 'renameat', argument: 1 },
    267: { name: 'readlinkat', argument: 1 },
    269: { name: 'faccessat', argument: 1 },
    316: { name: 'renameat2', argument: 1 },
    332: { name: 'statx', argument: 1 },
    437: { name: 'openat2', argument: 1 },
    439: { name: 'faccessat2', argument: 1 },
  },
  arm64: {
    34: { name: 'mkdirat', argument: 1 },
    35: { name: 'unlinkat', argument: 1 },
    38: { name: 'renameat', argument: 1 },
    39: { name: 'umount2', argument: 0 },
    43: { name: 'statfs', argument: 0 },
    48: { name: 'faccessat', argument: 1 },
    49: { name: 'chdir', argument: 0 },
    56: { name: 'openat', argument: 1 },
    78: { name: 'readlinkat', argument: 1 },
    79: { name: 'newfstatat', argument: 1 },
    276: { name: 'renameat2', argument: 1 },
    291: { name: 'statx', argument: 1 },
    437: { name: 'openat2', argument: 1 },
    439: { name: 'faccessat2', argument: 1 },
  },
};

/**
 * What each thread of a process waits in. With the path read from the memory of the process this
 * tells, without asking the process anything, on which path it hangs.
 */
export function threadsOf(pid: number, hostRoot: string): readonly Thread[] {
  const proc = pathInRoot(hostRoot, '/proc', 'follow').toString('utf8');
  const tids = readdirSync(`${proc}/${pid}/task`);
  if (tids.length > THREADS_MAX) {
    throw new ReadError('too-large', `/proc/${pid}/task`, `more than ${THREADS_MAX} threads`);
  }
  return tids.flatMap((tid) => threadOf(proc, pid, tid) ?? []);
}

function threadOf(proc: string, pid: number, tid: string): Thread | undefined {
  const folder = `${proc}/${pid}/task/${tid}`;
  const status = textUnlessGone(`${folder}/status`);
  // It ended while we looked.
  if (status === undefined) return undefined;
  // Name:	kubelet
  const name = /^Name:\t(.*)$/m.exec(status)?.[1] ?? '';
  // State:	S (sleeping)
  const state = /^State:\t(\S)/m.exec(status)?.[1] ?? '?';
  // 262 0xffffffffffffff9c 0xc000d8a120 0xc000b7c0b8 0x0 0x0 0x0 0xc000995298 0x4a1b2e
  const callLine = (textUnlessGone(`${folder}/syscall`) ?? '').trim();
  const [first = '', ...words] = callLine.split(' ');
  const systemCall = /^\d+$/.test(first) ? Number(first) : null;
  const call = systemCall === null ? undefined : PATH_CALLS[process.arch]?.[systemCall];
  const address = call && words[call.argument];
  return {
    tid: Number(tid),
    name,
    state,
    waitsIn: (textUnlessGone(`${folder}/wchan`) ?? '').trim(),
    systemCall,
    callName: call?.name ?? null,
    path: address === undefined ? null : textInMemory(`${proc}/${pid}/mem`, address),
    ...(call ? { callLine } : {}),
  };
}

/** Smaller than a page, for the text may end where the memory of the process ends. */
const SHORT_BYTES = 256;

/** The text at an address, up to its NUL; null when it cannot be read, or is no path. */
function textInMemory(path: string, address: string): string | null {
  const at = BigInt(address);
  if (at === 0n || at > BigInt(Number.MAX_SAFE_INTEGER)) return null;
  for (const length of [PATH_BYTES_MAX, SHORT_BYTES]) {
    const bytes = bytesAt(path, at, length);
    const end = bytes?.indexOf(0) ?? -1;
    if (bytes && end > 0) return textOf(bytes.subarray(0, end));
  }
  return null;
}

/** Not ours to read, not mapped, or gone: the path stays unknown, and so it is told. */
function bytesAt(path: string, at: bigint, length: number): Buffer | undefined {
  return orCode(() => {
    const file = openSync(path, 'r');
    try {
      const bytes = Buffer.alloc(length);
      return bytes.subarray(0, readSync(file, bytes, 0, length, at));
    } finally {
      closeSync(file);
    }
  }).value;
}

function textUnlessGone(path: string): string | undefined {
  return orCode(() => readFileSync(path, 'utf8')).value;
}
