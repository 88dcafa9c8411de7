import { readFileSync } from 'node:fs';
import type { Break } from '../break.ts';
import type { PracticeNode } from '../practice-node.ts';
import { allProcesses, isRunning, killIfThere } from '../process-mark.ts';

type Name = readonly [fault: string, variant: string];

/** Without this service the node is down, and only a person can know whether to start it again. */
export function stoppedService([fault, variant]: Name, about: string, make: Break['make']): Break {
  return {
    ...{ kind: 'fault', fault, variant, about },
    expected: { verdict: 'found', state: 'active', repair: 'refused' },
    stopsPods: 'stopped',
    make,
  };
}

/** A service that was stopped for a moment only. */
export function continuedService([fault, variant]: Name, about: string, service: Service): Break {
  return {
    ...{ kind: 'look-alike', fault, variant, about },
    expected: { verdict: 'clear', repair: 'none' },
    make: async (node) => {
      await signalService(node, service, 'SIGSTOP');
      await signalService(node, service, 'SIGCONT');
    },
  };
}

type Service = 'kubelet' | 'containerd';

/** Sends a signal to the kubelet or the runtime of this node, a stand-in or a real one. */
export async function signalService(
  { until }: PracticeNode,
  name: Service,
  signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT' | 'SIGTERM',
): Promise<void> {
  const pids = (await allProcesses()).filter((pid) => nameOf(pid) === name);
  if (pids.length === 0) throw new Error(`no such process: ${name}`);
  for (const pid of pids) killIfThere(pid, signal);
  if (signal === 'SIGKILL' || signal === 'SIGTERM') {
    await until(`${name} has ended`, () => !pids.some(isRunning));
    return;
  }
  const isStopped = signal === 'SIGSTOP';
  await until(`${name} is ${isStopped ? 'stopped' : 'continued'}`, () =>
    pids.every((pid) => (stateOf(pid) === 'T') === isStopped),
  );
}

function nameOf(pid: number): string | undefined {
  return readOf(pid, 'comm')?.trimEnd();
}

function stateOf(pid: number): string | undefined {
  // 812 (kubelet) T 1 812 812 0 -1 4194560 ...
  return /\) (\w) [^)]*$/.exec(readOf(pid, 'stat') ?? '')?.[1];
}

function readOf(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined; // It has ended.
  }
}
