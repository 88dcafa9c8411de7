import { defineEvidence, type Snapshot } from '../../model/evidence.ts';
import type { ProcessEntry } from '../../model/node-reader.ts';
import { podOfCgroup } from '../pods/pod-of-cgroup.ts';

/** Read once per check, so that all users see the same state: a full node has thousands. */
export const processes = defineEvidence<readonly ProcessEntry[]>({
  id: 'processes',
  title: 'Every process of the node',
  collect: (snapshot) => snapshot.node.ask('processes', { all: 'processes' }),
});

/** Pods with a running process. A zombie does not count. */
export function countLivePods(all: readonly ProcessEntry[]): number {
  const live = all.filter(({ state }) => state !== 'Z' && state !== 'X');
  return new Set(live.flatMap(({ cgroups }) => podOfCgroup(cgroups) ?? [])).size;
}

/** The unit of process start times, the same on every architecture. */
export const TICKS_PER_SECOND = 100;

/** Seconds since the boot of the node. */
export async function uptimeOf(snapshot: Snapshot): Promise<number> {
  // 17449.62 13353.31
  return Number.parseFloat(await snapshot.node.ask('file', { path: '/proc/uptime' }));
}

/**
 * Seconds since the start of a process. Undefined if the clocks differ: a container may have its
 * own uptime (lxcfs), but start times are always those of the host.
 */
export function ageOf(startTime: string, uptimeS: number): number | undefined {
  const ageS = uptimeS - Number(startTime) / TICKS_PER_SECOND;
  return ageS >= 0 ? ageS : undefined;
}
