import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { unlessGone } from '../unless-gone.ts';

/** The lines of every mount table that is reachable from these namespaces, by namespace. */
export type MountTables = ReadonlyMap<string, readonly string[]>;

/**
 * Of every visible process, our own first. Each namespace is read once, because tables are long.
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
