import type { KindName } from '../api/kinds.ts';
import { ROWS_PER_PAGE } from './limits.ts';
import { type StoredObject, StoreError } from './store.ts';
import { objectOf } from './stored-object.ts';

type Row = Readonly<Record<string, unknown>>;

/** The key of the row after which a page begins. */
export type After = readonly [kind: KindName, namespace: string, name: string];

/**
 * All objects of a kind, a few at a time: whoever is slow to look at them holds no more of them. One
 * that is damaged is told of, and keeps nobody from the others.
 */
export function* objectsIn(
  first: After,
  page: (after: After) => readonly Row[],
  onDamaged: (error: StoreError) => void,
): Generator<StoredObject> {
  const [kind] = first;
  for (let after = first; ; ) {
    const rows = page(after);
    for (const row of rows) {
      after = [kind, String(row.namespace), String(row.name)];
      const [, namespace, name] = after;
      const key = { kind, name, ...(namespace === '' ? {} : { namespace }) };
      const object = objectOf(String(row.text), key);
      if (object instanceof StoreError) onDamaged(object);
      else yield object;
    }
    if (rows.length < ROWS_PER_PAGE) return;
  }
}

/** As often as something is come upon, it is told once. */
export function reportingOnce(report?: (words: string) => void): (words: string) => void {
  const reported = new Set<string>();
  return (words) => {
    if (!reported.has(words)) report?.(words);
    reported.add(words);
  };
}
