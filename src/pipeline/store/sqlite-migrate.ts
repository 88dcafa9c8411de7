import type { DatabaseSync } from 'node:sqlite';
import { fieldsIn } from '../../lib/state/state-folder.ts';
import { listAt } from '../../lib/std/json.ts';

/** The form of the tables and of the objects in them, stored as `user_version`. */
export const SCHEMA_VERSION = 2;

/** From each schema version to the next. */
const MIGRATIONS: Readonly<Record<number, (database: DatabaseSync) => void>> = {
  1: renameDeeds,
};

/** Migrates an older database in one transaction: after a crash it has the old or the new form. */
export function migrate(database: DatabaseSync, from: number): void {
  database.exec('BEGIN IMMEDIATE');
  for (let version = from; version < SCHEMA_VERSION; version += 1) MIGRATIONS[version]?.(database);
  database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT`);
}

/** Version 1 called the description of an action "deed". */
function renameDeeds(database: DatabaseSync): void {
  database.function('without_deeds', { deterministic: true }, (text) => withoutDeeds(String(text)));
  database.exec(
    `UPDATE objects SET text = without_deeds(text)
     WHERE kind = 'Diagnosis' AND instr(text, '"deed":') > 0`,
  );
}

function withoutDeeds(text: string): string {
  const object = fieldsIn(text);
  const { status } = object;
  const lists = ['actions', 'plannedActions'].flatMap((name) => {
    const actions = listAt(status, name);
    return actions ? [[name, actions.map(withoutDeed)] as const] : [];
  });
  // A damaged object stays as it is.
  if (lists.length === 0) return text;
  const renamed: object = { ...(status as object), ...Object.fromEntries(lists) };
  return JSON.stringify({ ...object, status: renamed });
}

function withoutDeed(action: unknown): unknown {
  if (typeof action !== 'object' || action === null) return action;
  const fields = Object.entries(action) as [string, unknown][];
  return Object.fromEntries(
    fields.map(([name, value]) => [name === 'deed' ? 'description' : name, value]),
  );
}
