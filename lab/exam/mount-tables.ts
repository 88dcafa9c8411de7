import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { unlessGone } from './ignore-missing.ts';

/** The lines of every mount table that a deed in these namespaces could reach, by namespace. */
export type MountTables = ReadonlyMap<string, readonly string[]>;

/**
 * Of every process that is seen from here; our own first. Each namespace is read once: there are many
 * processes, and a table is long.
 */
export function mountTablesHere(): MountTables {
  const tables = new Map<string, readonly string[]>();
  for (const pid of ['self', ...readdirSync('/proc').filter((name) => Number(name) > 0)]) {
    const namespace = unlessGone(() => readlinkSync(`/proc/${pid}/ns/mnt`));
    if (!namespace || tables.has(namespace)) continue;
    const table = unlessGone(() => readFileSync(`/proc/${pid}/mountinfo`, 'utf8'));
    if (table) tables.set(namespace, table.split('\n').filter(Boolean));
  }
  return tables;
}
