import type { DatabaseSync } from 'node:sqlite';
import { fieldsIn } from '../../lib/state/state-folder.ts';
import { listAt } from '../../lib/std/json.ts';

/** The form of the tables and of the objects in them, stored as `user_version`. */
export const SCHEMA_VERSION = 2;

/** From each schema version to the next. */
const MIGRATIONS: Readonly<Record<number, (database: DatabaseSync) => void>> = {
  1: renameActionFields,
};

/** Migrates an older database in one transaction: after a crash it has the old or the new form. */
export function migrate(database: DatabaseSync, from: number): void {
  database.exec('BEGIN IMMEDIATE');
  for (let version = from; version < SCHEMA_VERSION; version += 1) MIGRATIONS[version]?.(database);
  database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT`);
}

/** Fields of an action in version 1, and their names since. */
const RENAMED = new Map([
  ['deed', 'description'],
  ['why', 'message'],
]);

function renameActionFields(database: DatabaseSync): void {
  database.function('renamed', { deterministic: true }, (text) => withRenamedFields(String(text)));
  database.exec(
    `UPDATE objects SET text = renamed(text)
     WHERE kind = 'Diagnosis' AND (instr(text, '"deed":') > 0 OR instr(text, '"why":') > 0)`,
  );
}

function withRenamedFields(text: string): string {
  const object = fieldsIn(text);
  const { status } = object;
  const lists = ['actions', 'plannedActions'].flatMap((name) => {
    const actions = listAt(status, name);
    return actions ? [[name, actions.map(renamedAction)] as const] : [];
  });
  // A damaged object stays as it is.
  if (lists.length === 0) return text;
  const renamed: object = { ...(status as object), ...Object.fromEntries(lists) };
  return JSON.stringify({ ...object, status: renamed });
}

function renamedAction(action: unknown): unknown {
  if (typeof action !== 'object' || action === null) return action;
  const fields = Object.entries(action) as [string, unknown][];
  return Object.fromEntries(fields.map(([name, value]) => [RENAMED.get(name) ?? name, value]));
}
