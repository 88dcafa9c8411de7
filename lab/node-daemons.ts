import { setTimeout as sleep } from 'node:timers/promises';
import { CHECK_INTERVAL_MS, END_MS } from './limits.ts';
import { allProcesses, killIfThere, procFile } from './process-mark.ts';

/**
 * Ends every daemon of this practice node except the given ones: the runtime with its containers, the
 * kubelet, leftovers of a break. Daemons have their own session; the session of the first process and
 * of processes that entered from outside is not visible here.
 */
export async function endDaemons(stored: readonly number[] = []): Promise<void> {
  const deadline = Date.now() + END_MS;
  for (;;) {
    const left = daemons().filter((pid) => !stored.includes(pid));
    if (left.length === 0) return;
    if (Date.now() > deadline) throw new Error(`processes ${left.join(', ')} do not end`);
    for (const pid of left) killIfThere(pid);
    await sleep(CHECK_INTERVAL_MS);
  }
}

function daemons(): readonly number[] {
  return allProcesses().filter((pid) => pid > 1 && hasOwnSession(pid));
}

function hasOwnSession(pid: number): boolean {
  const stat = procFile(pid, 'stat');
  // 812 (kubelet) S 1 812 812 0 -1 ...: state, parent, group, session
  const [state, , , session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return state !== undefined && !['', 'Z', 'X'].includes(state) && session !== '0';
}
