import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { ROWS_PER_PAGE } from './limits.ts';

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
