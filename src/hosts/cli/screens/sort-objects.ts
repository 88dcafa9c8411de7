import { UsageError } from '../../../lib/terminal/terminal.ts';
import { valuesAt, valueText } from './json-path.ts';
import { parseOnePath } from './parse-json-path.ts';

/** Sorted by the value at a path, as `--sort-by` of kubectl: objects without a value come first. Without a path, as they are. */
export function sortedBy<T>(
  items: readonly T[],
  path: string | undefined,
  objectOf: (item: T) => unknown,
): readonly T[] {
  if (path === undefined) return items;
  const steps = parseOnePath(path);
  const keyed = items.map((item) => ({ item, key: valuesAt(steps, objectOf(item))[0] }));
  if (items.length > 0 && keyed.every(({ key }) => key === undefined)) {
    throw new UsageError(`couldn't find any field with path "${path}" in the list of objects`);
  }
  return keyed.toSorted((left, right) => compare(left.key, right.key)).map(({ item }) => item);
}

function compare(left: unknown, right: unknown): number {
  if (left === right) return 0;
  if (left === undefined || left === null) return -1;
  if (right === undefined || right === null) return 1;
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  return compareNaturally(valueText(left), valueText(right));
}

/** "web-9" before "web-10". */
function compareNaturally(left: string, right: string): number {
  const [ours, theirs] = [left, right].map((text) => text.match(/\d+|\D+/g) ?? []);
  for (const [at, part] of (ours ?? []).entries()) {
    const other = theirs?.[at];
    if (other === undefined) return 1;
    if (part === other) continue;
    const isNumber = /^\d/.test(part) && /^\d/.test(other);
    if (isNumber && Number(part) !== Number(other)) return Number(part) - Number(other);
    return part < other ? -1 : 1;
  }
  return -1;
}
