import { isObject } from '../../../lib/std/json.ts';
/** Where kubectl keeps what was applied last; ours is the same, so that both can take turns. */
export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * What is to be changed so that all of `wanted` is there, and nothing that was applied before and is
 * wanted no more. What others have set stays: an approval, the node of a pod.
 */
export function applyPatch(last: unknown, wanted: unknown): unknown {
  if (!isObject(wanted)) return wanted;
  const before = isObject(last) ? last : {};
  const gone = Object.keys(before).filter((name) => !Object.hasOwn(wanted, name));
  const removed: [string, unknown][] = gone.map((name) => [name, null]);
  const set = Object.entries(wanted).map(([name, value]): [string, unknown] => [
    name,
    applyPatch(Object.hasOwn(before, name) ? before[name] : undefined, value),
  ]);
  return Object.fromEntries([...removed, ...set]);
}
