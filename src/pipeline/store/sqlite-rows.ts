import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { messageOf } from '../../lib/std/message-of.ts';
import type { KindName } from '../api/kinds.ts';
import { ROWS_PER_PAGE } from './limits.ts';
import { resultCodeOf } from './sqlite-file.ts';
import type { ObjectKey, StoredObject } from './store.ts';
import { StoreError } from './store-error.ts';
import { nameOf, objectOf } from './stored-object.ts';

/** The SQL of reads and writes, compiled once. */
export type Statements = Readonly<
  Record<'get' | 'list' | 'listIn' | 'put' | 'delete' | 'version' | 'setVersion', StatementSync>
>;

export function statementsOf(database: DatabaseSync): Statements {
  return {
    get: database.prepare('SELECT text FROM objects WHERE kind = ? AND namespace = ? AND name = ?'),
    list: database.prepare(
      `SELECT namespace, name, text FROM objects WHERE kind = ? AND (namespace, name) > (?, ?)
       ORDER BY namespace, name LIMIT ${ROWS_PER_PAGE}`,
    ),
    listIn: database.prepare(
      `SELECT namespace, name, text FROM objects WHERE kind = ? AND namespace = ? AND name > ?
       ORDER BY name LIMIT ${ROWS_PER_PAGE}`,
    ),
    put: database.prepare(
      'INSERT INTO objects VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET text = excluded.text',
    ),
    delete: database.prepare('DELETE FROM objects WHERE kind = ? AND namespace = ? AND name = ?'),
    version: database.prepare('SELECT version FROM last_change'),
    setVersion: database.prepare('UPDATE last_change SET version = ?'),
  };
}

/** The key of the row before a page. */
type After = readonly [kind: KindName, namespace: string, name: string];

interface Reading {
  readonly page: (after: After) => readonly Readonly<Record<string, unknown>>[];
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

/** An error of SQLite as one of the store; any other error is a defect. */
export function unavailable(what: string, error: unknown): Error {
  if (resultCodeOf(error) === undefined) return error as Error;
  const advice = 'delete ended Diagnoses or free space on the disk of --state-dir, then try again';
  return new StoreError('ServiceUnavailable', `${what}: ${messageOf(error)}; ${advice}`);
}

export function notFound(key: ObjectKey): StoreError {
  return new StoreError('NotFound', `${nameOf(key)}: not found`);
}

export function conflict(key: ObjectKey): StoreError {
  const message = 'the object has been modified; get it again and apply the change to that';
  return new StoreError('Conflict', `${nameOf(key)}: ${message}`);
}

export function closed(): StoreError {
  return new StoreError('ServiceUnavailable', 'the store is closed: kubediag is shutting down');
}
