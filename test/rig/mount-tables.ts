import { readdirSync, readlinkSync } from 'node:fs';
import { type MountTables, mountTablesHere } from '../../lab/mount-tables.ts';
import { unlessGone } from '../../lab/unless-gone.ts';

/** Of every process in the namespaces, containers included, and of the machine itself. */
export function mountTables({ pid: first }: { readonly pid: number }): MountTables {
  const inside = readlinkSync(`/proc/${first}/ns/pid`);
  const isInside = (pid: string) =>
    unlessGone(() => readlinkSync(`/proc/${pid}/ns/pid`)) === inside;
  const pids = readdirSync('/proc').filter((name) => Number(name) > 0 && isInside(name));
  const namespaces = new Set(
    ['self', ...pids].map((pid) => unlessGone(() => readlinkSync(`/proc/${pid}/ns/mnt`))),
  );
  return new Map([...mountTablesHere()].filter(([namespace]) => namespaces.has(namespace)));
}

/** Of every process on the machine whose table names a directory, and of the machine itself. */
export function mountTablesNaming(folder: string): MountTables {
  const isNamed = (table: readonly string[]) => table.some((line) => line.includes(folder));
  return new Map([...mountTablesHere()].filter(([, table], at) => at === 0 || isNamed(table)));
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
