import { readdirSync, readFileSync } from 'node:fs';

/** The first process of a container, as the caller sees it: the oldest one in its cgroup. */
export function containerProcess(containerId: string): number {
  const pids = readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && cgroupOf(pid).includes(containerId));
  if (pids.length === 0) throw new Error(`container ${containerId} has no process`);
  return Math.min(...pids);
}

function cgroupOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cgroup`, 'utf8');
  } catch {
    // It ended while we looked.
    return '';
  }
}
