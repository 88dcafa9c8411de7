import { isObject } from '../../../lib/std/json.ts';

/** The annotation of kubectl for what was applied last, so that both tools can be mixed. */
export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * The merge patch that sets all of `wanted` and removes what was applied before and is no longer
 * wanted. Fields that others have set stay: an approval, the node of a pod.
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
