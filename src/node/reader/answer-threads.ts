import { readdirSync, readFileSync } from 'node:fs';
import { ReadError } from '../model/node-reader.ts';
import type { Thread } from '../model/thread.ts';
import { orCode } from './ignore-failure.ts';
import { THREADS_MAX } from './limits.ts';
import { procIn } from './path-in-root.ts';
import { ProcessMemory } from './process-memory.ts';
import { systemCall } from './system-calls.ts';

/**
 * What each thread of a process waits in. With the path read from the memory of the process this
 * shows, without asking the process anything, on which path it hangs.
 */
export function threadsOf(pid: number, hostRoot: string): readonly Thread[] {
  const proc = procIn(hostRoot);
  const tids = readdirSync(`${proc}/${pid}/task`);
  if (tids.length > THREADS_MAX) {
    throw new ReadError('too-large', `/proc/${pid}/task`, `more than ${THREADS_MAX} threads`);
  }
  // Not readable for us, or gone: then the paths are reported as unknown.
  const memory = orCode(() => new ProcessMemory(`${proc}/${pid}`)).value;
  try {
    return tids.flatMap((tid) => threadOf(`${proc}/${pid}/task/${tid}`, memory) ?? []);
  } finally {
    memory?.close();
  }
}

function threadOf(folder: string, memory: ProcessMemory | undefined): Thread | undefined {
  const status = textUnlessGone(`${folder}/status`);
  // It ended while we looked.
  if (status === undefined) return undefined;
  // Name:	kubelet
  const name = /^Name:\t(.*)$/m.exec(status)?.[1] ?? '';
  // State:	S (sleeping)
  const state = /^State:\t(\S)/m.exec(status)?.[1] ?? '?';
  // 262 0xffffffffffffff9c 0xc000d8a120 0xc000b7c0b8 0x0 0x0 0x0 0xc000995298 0x4a1b2e
  const callLine = (textUnlessGone(`${folder}/syscall`) ?? '').trim();
  const [first = '', ...args] = callLine.split(' ');
  const number = /^\d+$/.test(first) ? Number(first) : null;
  const call = number === null ? undefined : systemCall(number);
  const address = call?.path === undefined ? undefined : args[call.path];
  return {
    tid: Number(folder.slice(folder.lastIndexOf('/') + 1)),
    name,
    state,
    waitsIn: (textUnlessGone(`${folder}/wchan`) ?? '').trim(),
    systemCall: number,
    callName: address === undefined ? null : (call?.name ?? null),
    path: address === undefined ? null : (memory?.pathAt(Number(address)) ?? null),
    ...(address === undefined ? {} : { callLine }),
  };
}

function textUnlessGone(path: string): string | undefined {
  return orCode(() => readFileSync(path, 'utf8')).value;
}
