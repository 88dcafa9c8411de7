import type { KindName } from '../api/kinds.ts';
import { ROWS_PER_PAGE } from './limits.ts';
import type { StoredObject } from './store.ts';
import { StoreError } from './store-error.ts';
import { objectOf } from './stored-object.ts';

type Row = Readonly<Record<string, unknown>>;

/** The key of the row before a page. */
export type After = readonly [kind: KindName, namespace: string, name: string];

interface Reading {
  readonly page: (after: After) => readonly Row[];
  readonly isSelected: ((object: StoredObject) => boolean) | undefined;
  readonly onDamaged: (error: StoreError) => void;
}

/** The selected objects of a kind, page by page, without the damaged ones. */
export async function* objectsIn(
  first: After,
  { page, isSelected, onDamaged }: Reading,
): AsyncGenerator<StoredObject> {
  const [kind] = first;
  for (let after = first; ; ) {
    const rows = page(after);
    for (const row of rows) {
      after = [kind, String(row.namespace), String(row.name)];
      const [, namespace, name] = after;
      const key = { kind, name, ...(namespace === '' ? {} : { namespace }) };
      const object = objectOf(String(row.text), key);
      if (object instanceof StoreError) onDamaged(object);
      else if (isSelected?.(object) ?? true) yield object;
    }
    if (rows.length < ROWS_PER_PAGE) return;
  }
}

/** Reports each message once, however often it comes. */
export function reportingOnce(report?: (message: string) => void): (message: string) => void {
  const reported = new Set<string>();
  return (message) => {
    if (!reported.has(message)) report?.(message);
    reported.add(message);
  };
}
