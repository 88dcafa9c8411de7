import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { PrivateNamespaces } from './private-namespaces.ts';

/** The lines of every mount table that a deed in these namespaces could reach, by namespace. */
export type MountTables = ReadonlyMap<string, readonly string[]>;

/** Of every process in the namespaces, containers included, and of the machine itself. */
export function mountTables({ pid: first }: PrivateNamespaces): MountTables {
  const tables = new Map<string, readonly string[]>();
  const processes = readlinkSync(`/proc/${first}/ns/pid`);
  for (const pid of ['self', ...readdirSync('/proc').filter((name) => Number(name) > 0)]) {
    try {
      if (pid !== 'self' && readlinkSync(`/proc/${pid}/ns/pid`) !== processes) continue;
      const namespace = readlinkSync(`/proc/${pid}/ns/mnt`);
      const lines = readFileSync(`/proc/${pid}/mountinfo`, 'utf8').split('\n').filter(Boolean);
      if (lines.length > 0) tables.set(namespace, lines);
    } catch (error) {
      // It ended while we looked at it, or belongs to a machine that keeps it from us.
      if (
        !['ENOENT', 'ESRCH', 'EINVAL', 'EACCES'].includes(
          (error as NodeJS.ErrnoException).code ?? '',
        )
      ) {
        throw error;
      }
    }
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
