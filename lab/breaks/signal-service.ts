import { readFileSync } from 'node:fs';
import type { PracticeNode } from '../practice-node.ts';
import { allProcesses, isRunning, killIfThere } from '../process-mark.ts';

/** Sends a signal to the kubelet or the runtime of this node, ours or a real one. */
export async function signalService(
  { until }: PracticeNode,
  name: 'kubelet' | 'containerd',
  signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT' | 'SIGTERM',
): Promise<void> {
  const pids = (await allProcesses()).filter((pid) => nameOf(pid) === name);
  if (pids.length === 0) throw new Error(`no process is called ${name}`);
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
    return undefined; // It has ended since it was listed.
  }
}
