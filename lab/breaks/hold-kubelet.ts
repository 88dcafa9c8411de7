import { readFileSync } from 'node:fs';
import type { PracticeNode } from '../practice-node.ts';
import { allProcesses, killIfThere } from '../process-mark.ts';

/**
 * Runs an action while a real kubelet is stopped. It kills an unknown pod within two seconds, which on a
 * busy machine is before the pod is complete. The stand-in does not kill such pods.
 */
export async function holdKubelet<T>(
  { settings: { kubelet } }: PracticeNode,
  action: () => Promise<T>,
): Promise<T> {
  if (kubelet.kind === 'stand-in') return action();
  const pids = (await allProcesses()).filter((pid) => programOf(pid) === kubelet.program);
  for (const pid of pids) killIfThere(pid, 'SIGSTOP');
  return action().finally(() => {
    for (const pid of pids) killIfThere(pid, 'SIGCONT');
  });
}

function programOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0];
  } catch {
    return undefined; // It has ended since it was listed.
  }
}
