import { defineEvidence, type Snapshot } from '../../model/evidence.ts';
import type { ProcessEntry } from '../../model/node-reader.ts';
import { podOfCgroup } from '../pods/pod-of-cgroup.ts';

/** Asked once for all that want to know of one moment: a full node has thousands. */
export const processes = defineEvidence<readonly ProcessEntry[]>({
  id: 'processes',
  title: 'Every process of the node',
  collect: (snapshot) => snapshot.node.ask('processes', { all: 'processes' }),
});

/** Pods of which a process runs. One that has ended, and waits to be reaped, does not. */
export function countLivePods(all: readonly ProcessEntry[]): number {
  const live = all.filter(({ state }) => state !== 'Z' && state !== 'X');
  return new Set(live.flatMap(({ cgroups }) => podOfCgroup(cgroups) ?? [])).size;
}

/** The kernel counts the start times of processes in these, on every machine that it runs on. */
export const TICKS_PER_SECOND = 100;

/** Seconds since the node was booted. */
export async function uptimeOf(snapshot: Snapshot): Promise<number> {
  // 17449.62 13353.31
  return Number.parseFloat(await snapshot.node.ask('file', { path: '/proc/uptime' }));
}

/**
 * Seconds since a process was started. Undefined where the two clocks differ: a container may have an
 * uptime of its own (lxcfs), while start times are always those of the machine.
 */
export function ageOf(startTime: string, uptimeS: number): number | undefined {
  const ageS = uptimeS - Number(startTime) / TICKS_PER_SECOND;
  return ageS >= 0 ? ageS : undefined;
}
