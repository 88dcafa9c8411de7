import { isObject } from '../../src/lib/std/json.ts';
/**
 * Applies a strategic merge patch. Beyond a plain merge it merges lists by a key field of their
 * entries. An API server knows that field from its types; here it comes from the order that a
 * kubelet sends with every such list:
 *
 *   "$setElementOrder/conditions": [{ "type": "Ready" }], "conditions": [{ "type": "Ready", "status": "True" }]
 */
export function strategicMerge(value: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = new Map(Object.entries(isObject(value) ? value : {}));
  for (const [name, part] of Object.entries(patch)) {
    if (name.startsWith('$')) continue;
    const order = patch[`$setElementOrder/${name}`];
    if (part === null) merged.delete(name);
    else if (Array.isArray(part)) merged.set(name, mergedList(merged.get(name), part, order));
    else merged.set(name, strategicMerge(merged.get(name), part));
  }
  return Object.fromEntries(merged);
}

function mergedList(value: unknown, patch: readonly unknown[], order: unknown): unknown {
  const replaces = patch.filter((entry) => !(isObject(entry) && entry.$patch === 'replace'));
  const [first] = Array.isArray(order) ? (order as unknown[]) : [];
  const [key] = isObject(first) ? Object.keys(first) : [];
  if (key === undefined || replaces.length < patch.length) return replaces;

  const entries = new Map<unknown, unknown>();
  const nameOf = (entry: unknown) => (isObject(entry) ? entry[key] : entry);
  for (const entry of Array.isArray(value) ? (value as unknown[]) : []) {
    entries.set(nameOf(entry), entry);
  }
  for (const entry of replaces) {
    const name = nameOf(entry);
    if (isObject(entry) && entry.$patch === 'delete') entries.delete(name);
    else entries.set(name, strategicMerge(entries.get(name), entry));
  }
  return [...entries.values()];
}
