import { textAt } from '../../../lib/std/json.ts';
import { AUTHOR_POLICY } from '../../../pipeline/api/cluster-names.ts';
import type { SeenPolicies } from './decide-rights.ts';

/**
 * Since when the authors of Diagnoses are checked, by the clock of the API server. An upgrade changes the
 * policy and does not create it again.
 */
export function rightsSince(seen: SeenPolicies): string | undefined {
  if (seen.state !== 'listed') return undefined;
  return [...seen.policies, ...seen.bindings]
    .filter((object) => textAt(object, 'metadata', 'name') === AUTHOR_POLICY)
    .map((object) => textAt(object, 'metadata', 'creationTimestamp') ?? '')
    .toSorted()
    .at(-1);
}
