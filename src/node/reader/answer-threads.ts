import { closeSync, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Elf, readElf, runningProgram } from '../../lib/go/elf.ts';
import { type PcLineTable, readPcLineTable } from '../../lib/go/pc-line-table.ts';
import { type WalkedStack, walkStack } from '../../lib/go/stack-walk.ts';
import { ReadError } from '../model/node-reader.ts';
import type { Thread, ThreadStack } from '../model/thread.ts';
import { fileSource } from './file-source.ts';
import { STACKS_APART_MS, STACKS_MS, THREADS_MAX } from './limits.ts';
import { procIn } from './path-in-root.ts';
import { ProcessMemory } from './process-memory.ts';
import { orCode, unlessGone } from './read-file.ts';
import { isResting, systemCall } from './system-calls.ts';

/**
 * What each thread of a process waits in. With the path read from the memory of the process this
 * shows, without asking the process anything, on which path it hangs.
 */
export function threadsOf(pid: number, hostRoot: string): readonly Thread[] {
  const folder = `${procIn(hostRoot)}/${pid}`;
  const tids = tidsIn(folder, `/proc/${pid}/task`);
  // Not readable for us, or gone: then the paths are reported as unknown.
  const memory = orCode(() => new ProcessMemory(folder)).value;
  try {
    return tids.flatMap((tid) => threadOf(`${folder}/task/${tid}`, memory) ?? []);
  } finally {
    memory?.close();
  }
}

function tidsIn(folder: string, source: string): readonly string[] {
  const tids = readdirSync(`${folder}/task`);
  if (tids.length <= THREADS_MAX) return tids;
  throw new ReadError('too-large', source, `more than ${THREADS_MAX} threads`);
}

function threadOf(folder: string, memory: ProcessMemory | undefined): Thread | undefined {
  const textOf = (name: string) => orCode(() => readFileSync(`${folder}/${name}`, 'utf8')).value;
  const status = textOf('status');
  // It ended while we looked.
  if (status === undefined) return undefined;
  // 262 0xffffffffffffff9c 0xc000d8a120 0xc000b7c0b8 0x0 0x0 0x0 0xc000995298 0x4a1b2e
  const callLine = (textOf('syscall') ?? '').trim();
  const [first = '', ...args] = callLine.split(' ');
  const number = /^\d+$/.test(first) ? Number(first) : null;
  const call = number === null ? undefined : systemCall(number);
  const address = call?.path === undefined ? undefined : args[call.path];
  return {
    tid: Number(folder.slice(folder.lastIndexOf('/') + 1)),
    // Name:	kubelet
    name: /^Name:\t(.*)$/m.exec(status)?.[1] ?? '',
    state: stateIn(status),
    waitsIn: (textOf('wchan') ?? '').trim(),
    systemCall: number,
    callName: address === undefined ? null : (call?.name ?? null),
    path: address === undefined ? null : (memory?.pathAt(Number(address)) ?? null),
    ...(address === undefined ? {} : { callLine }),
  };
}

function stateIn(status: string): string {
  // State:	S (sleeping)
  return /^State:\t(\S)/m.exec(status)?.[1] ?? '?';
}

/**
 * The Go stacks of the threads of a process that are blocked in a system call, from what the kernel
 * shows of them: nothing is stopped, signalled or changed. Threads are read twice, so that the
 * answer shows which of them have not moved in between.
 */
export async function stacksOf(pid: number, hostRoot: string): Promise<readonly ThreadStack[]> {
  const folder = `${procIn(hostRoot)}/${pid}`;
  if (process.arch !== 'x64') {
    throw new ReadError('unsupported', `/proc/${pid}/task`, 'Go stacks are read on x64 only');
  }
  const earlier = new Map(waitsIn(folder).map((wait) => [wait.tid, wait]));
  if (earlier.size === 0) return [];
  await sleep(STACKS_APART_MS);
  const file = openSync(`${folder}/exe`, 'r');
  try {
    const memory = new ProcessMemory(folder);
    try {
      const walk = walkOf(pid, { folder, file, memory });
      const stacks = waitsIn(folder).map((wait) => {
        const isSame = earlier.get(wait.tid)?.mark === wait.mark;
        return stackOf(wait, { folder, memory, walk, waitedMs: isSame ? STACKS_APART_MS : 0 });
      });
      return stacks.filter(({ path }) => path === null || !AT_REST.test(path));
    } finally {
      memory.close();
    }
  } finally {
    closeSync(file);
  }
}

// anon_inode:inotify, socket:[48213], pipe:[48217]: a read of these waits for news, as it should
const AT_REST = /^(?:anon_inode|socket|pipe):/;

/** A thread that is blocked in a system call, or by a page of memory that does not come. */
interface Wait {
  readonly tid: string;
  /** null outside of system calls. */
  readonly call: number | null;
  readonly words: readonly number[];
  /** Its call, its registers and how often it was switched: equal twice, it has not run between. */
  readonly mark: string;
  readonly state: string;
}

function waitsIn(folder: string): readonly Wait[] {
  return tidsIn(folder, `${folder}/task`).flatMap((tid) => waitOf(folder, tid) ?? []);
}

function waitOf(folder: string, tid: string): Wait | undefined {
  const line = textUnlessGone(`${folder}/task/${tid}/syscall`).trim();
  // 262 0xffffffffffffff9c 0xc000d8a120 0xc000b7c0b8 0x0 0x0 0x0 0xc000995298 0x4a1b2e
  // -1 0xc000995298 0x4a1b2e, outside of a system call; "running" while it runs
  const words = line.split(' ').map(Number);
  const [number = Number.NaN] = words;
  if (!(number >= -1) || words.length < 3 || isResting(number)) return undefined;
  const status = textUnlessGone(`${folder}/task/${tid}/status`);
  const state = stateIn(status);
  // voluntary_ctxt_switches:	1207
  // nonvoluntary_ctxt_switches:	31
  const switches = status.match(/^(?:non)?voluntary_ctxt_switches:\t\d+$/gm)?.join(' ');
  // A thread that runs, or may run at any moment, waits for nobody.
  if (state === 'R' || (number === -1 && state !== 'D')) return undefined;
  return { tid, call: number < 0 ? null : number, words, mark: `${line} ${switches}`, state };
}

type Walk = (wait: Wait) => WalkedStack;

function walkOf(
  pid: number,
  { folder, file, memory }: { folder: string; file: number; memory: ProcessMemory },
): Walk {
  const elf = readElf(fileSource(file));
  const bias = elf && biasOf(folder, elf);
  const program =
    elf && bias !== undefined
      ? runningProgram(elf, { bias, read: (address, length) => memory.read(address, length) })
      : undefined;
  const table = program && readPcLineTable(program);
  if (bias === undefined || !table) {
    const why = 'not a Go program, or one whose table of functions has a new form';
    throw new ReadError('unsupported', `/proc/${pid}/exe`, why);
  }
  const remembered = remembering(table);
  const until = performance.now() + STACKS_MS;
  const longAt = (address: number) => memory.longAt(address);
  return ({ words }) => {
    if (performance.now() > until) {
      return { frames: [], brokenBy: `the time limit of ${STACKS_MS / 1000} s for all stacks` };
    }
    const [stackPointer = 0, programCounter = 0] = words.slice(-2);
    return walkStack(remembered, { stackPointer, programCounter }, { bias, longAt });
  };
}

/** Threads of a sick kubelet wait in the same few calls: each is looked up once. */
function remembering({ functionAt }: PcLineTable): PcLineTable {
  const known = new Map<number, ReturnType<PcLineTable['functionAt']>>();
  return {
    functionAt: (address) => {
      const found = known.get(address) ?? functionAt(address);
      known.set(address, found);
      return found;
    },
  };
}

/** The number by which the kernel names the entry of a program among the facts it starts it with. */
const AT_ENTRY = 9n;

function biasOf(folder: string, { entry }: Elf): number | undefined {
  const facts = readFileSync(`${folder}/auxv`);
  for (let at = 0; at + 16 <= facts.length; at += 16) {
    if (facts.readBigUInt64LE(at) === AT_ENTRY)
      return Number(facts.readBigUInt64LE(at + 8)) - entry;
  }
  return undefined;
}

function stackOf(
  wait: Wait,
  {
    folder,
    memory,
    walk,
    waitedMs,
  }: {
    readonly folder: string;
    readonly memory: ProcessMemory;
    readonly walk: Walk;
    readonly waitedMs: number;
  },
): ThreadStack {
  const { tid, call, words, state } = wait;
  const known = call === null ? undefined : systemCall(call);
  const place = known?.path === undefined ? undefined : words[1 + known.path];
  const descriptor = known?.descriptor === undefined ? undefined : words[1 + known.descriptor];
  const path =
    place === undefined
      ? (orCode(() => readlinkSync(`${folder}/fd/${descriptor}`)).value ?? null)
      : memory.pathAt(place);
  const stack = walk(wait);
  const about = {
    tid: Number(tid),
    state,
    waitsIn: textUnlessGone(`${folder}/task/${tid}/wchan`).trim(),
    systemCall: call,
    callName: known?.name ?? null,
  };
  // What was read while it went on is a mixture of two stacks.
  if (waitOf(folder, tid)?.mark !== wait.mark) {
    const brokenBy = 'the thread went on while it was read';
    return { ...about, path: null, waitedMs: 0, frames: [], brokenBy };
  }
  return { ...about, path, waitedMs, ...stack };
}

/** Empty when the thread has ended. What is not ours to read must not look like a thread at rest. */
function textUnlessGone(path: string): string {
  return unlessGone(() => readFileSync(path, 'utf8')) ?? '';
}
