import { CONCURRENT_NODES_MAX } from '../api/limits.ts';
import type { RecoveryPolicySpec, RecoveryPolicyStatus } from '../api/recovery-policy.ts';
import type { SeenPolicy } from './seen-policy.ts';
import { slotNumber } from './slot-name.ts';

/** How many nodes of a cluster may be in recovery at once; each has a Lease. */
export function slotCount(
  maxConcurrentNodes: RecoveryPolicySpec['maxConcurrentNodes'],
  nodes: number,
): number {
  if (maxConcurrentNodes === undefined) return 1;
  const wanted =
    typeof maxConcurrentNodes === 'number'
      ? maxConcurrentNodes
      : Math.floor((nodes * Number.parseInt(maxConcurrentNodes, 10)) / 100);
  return Math.min(Math.max(wanted, 1), CONCURRENT_NODES_MAX);
}

/**
 * The slots that an agent may use, numbered from 0; `held` are the numbers of those that other nodes hold,
 * of which the controller may not have seen the last. After a change of the spec the status is older, and
 * the controller may be away: then what the new spec permits in any cluster is the limit, and of a
 * percentage that is one node.
 */
export function usableSlots(
  { spec, status, generation }: SeenPolicy & { readonly state: 'usable' },
  held: readonly number[] = [],
): number {
  const { slots = 0, observedGeneration } = status;
  const { maxConcurrentNodes } = spec;
  // The controller knows how many nodes a percentage is.
  const isCounted = observedGeneration === generation && typeof maxConcurrentNodes === 'string';
  const limit = isCounted ? observedLimit(status) : slotCount(maxConcurrentNodes, 0);
  return Math.min(slots, usableBelow(limit, held));
}

/** How many nodes may be in recovery: those beyond the usable slots made these fewer. */
function observedLimit({ slots = 0, nodesInRecovery = [] }: RecoveryPolicyStatus): number {
  return slots + nodesInRecovery.filter(({ lease }) => (slotNumber(lease) ?? -1) >= slots).length;
}

/** As many of the first slots as may be used besides those with higher numbers that nodes hold. */
export function usableBelow(limit: number, held: readonly number[]): number {
  for (let usable = limit; usable > 0; usable -= 1) {
    const beyond = held.filter((number) => number >= usable).length;
    if (usable + beyond <= limit) return usable;
  }
  return 0;
}
