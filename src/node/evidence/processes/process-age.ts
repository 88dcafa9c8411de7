import type { Snapshot } from '../../model/evidence.ts';

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
