import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { CHECK_INTERVAL_MS, END_MS } from './limits.ts';
import { killIfThere } from './process-mark.ts';

/**
 * Ends everything that was started to stay on the practice node on which we are: the runtime with its
 * containers, the kubelet, what a break left behind. That has a session of its own, while the first
 * process, and whoever entered from outside, have one that cannot be seen from here. Those that are to
 * be kept go on.
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
  const pids = readdirSync('/proc').map(Number);
  return pids.filter((pid) => pid > 1 && hasOwnSession(pid));
}

function hasOwnSession(pid: number): boolean {
  const stat = readUnlessGone(`/proc/${pid}/stat`);
  // 812 (kubelet) S 1 812 812 0 -1 ...: state, parent, group, session
  const [state, , , session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return state !== undefined && !['', 'Z', 'X'].includes(state) && session !== '0';
}

function readUnlessGone(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
