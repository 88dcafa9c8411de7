import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { unlessGone } from './unless-gone.ts';

/** The lines of every mount table that a deed in these namespaces could reach, by namespace. */
export type MountTables = ReadonlyMap<string, readonly string[]>;

/** Of every process in the namespaces, containers included, and of the machine itself. */
export function mountTables({ pid: first }: { readonly pid: number }): MountTables {
  const processes = readlinkSync(`/proc/${first}/ns/pid`);
  return tablesOf(
    (pid) => readlinkSync(`/proc/${pid}/ns/pid`) === processes,
    () => true,
  );
}

/** Of every process that is seen from here; our own first. */
export function mountTablesHere(): MountTables {
  return tablesOf(
    () => true,
    () => true,
  );
}

/** Of every process on the machine whose table names a folder, and of the machine itself. */
export function mountTablesNaming(folder: string): MountTables {
  return tablesOf(
    () => true,
    (table) => table.includes(folder),
  );
}

/** Each namespace is read once: a machine has many processes, and a table is long. */
function tablesOf(
  isMeant: (pid: string) => boolean,
  isWanted: (table: string) => boolean,
): MountTables {
  const tables = new Map<string, readonly string[]>();
  const seen = new Set<string>();
  for (const pid of ['self', ...readdirSync('/proc').filter((name) => Number(name) > 0)]) {
    const isOwn = pid === 'self';
    const namespace = unlessGone(() => readlinkSync(`/proc/${pid}/ns/mnt`));
    if (!namespace || seen.has(namespace)) continue;
    if (!isOwn && !unlessGone(() => isMeant(pid))) continue;
    const table = unlessGone(() => readFileSync(`/proc/${pid}/mountinfo`, 'utf8'));
    if (!table) continue;
    seen.add(namespace);
    if (isOwn || isWanted(table)) tables.set(namespace, table.split('\n').filter(Boolean));
  }
  return tables;
}

/** What is different, one line each: "- LINE" was there before, "+ LINE" is new. */
export function mountChanges(before: MountTables, after: MountTables): readonly string[] {
  return [...before].flatMap(([namespace, lines]) => {
    const now = after.get(namespace) ?? [];
    return [
      ...lines.filter((line) => !now.includes(line)).map((line) => `- ${line}`),
      ...now.filter((line) => !lines.includes(line)).map((line) => `+ ${line}`),
    ];
  });
}
