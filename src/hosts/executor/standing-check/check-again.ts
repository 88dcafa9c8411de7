import type { NodeCheck } from '../../../pipeline/channel/node-check.ts';
import { CHECK_UNKNOWN_AGAIN_MS } from './limits.ts';

/**
 * When to check again although the node does not change: when a verdict changes by time alone, and
 * soon after the first check that could not judge a fault, as while a service restarts.
 */
export function checkAgainAfter(
  before: Pick<NodeCheck, 'faults'> | undefined,
  now: Pick<NodeCheck, 'faults'>,
  verdictsInMs: number | undefined,
): number | undefined {
  const judged = before?.faults.filter(({ verdict }) => verdict !== 'unknown') ?? [];
  const known = new Set(judged.map(({ fault }) => fault));
  const isNewlyUnknown = now.faults.some(
    ({ fault, verdict }) => verdict === 'unknown' && known.has(fault),
  );
  if (!isNewlyUnknown) return verdictsInMs;
  return Math.min(CHECK_UNKNOWN_AGAIN_MS, verdictsInMs ?? CHECK_UNKNOWN_AGAIN_MS);
}
