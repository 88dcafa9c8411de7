import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { PrivateNamespaces } from './private-namespaces.ts';

/** The lines of every mount table that a deed in these namespaces could reach, by namespace. */
export type MountTables = ReadonlyMap<string, readonly string[]>;

/** Of every process in the namespaces, containers included, and of the machine itself. */
export function mountTables({ pid: first }: PrivateNamespaces): MountTables {
  const tables = new Map<string, readonly string[]>();
  const processes = readlinkSync(`/proc/${first}/ns/pid`);
  for (const pid of ['self', ...readdirSync('/proc').filter((name) => Number(name) > 0)]) {
    const found = tableOf(pid);
    if (!found || (pid !== 'self' && found.processes !== processes)) continue;
    tables.set(found.namespace, found.lines);
  }
  return tables;
}

/** Nothing of a process that ended while we looked at it, or that the machine keeps from us. */
function tableOf(
  pid: string,
): { namespace: string; processes: string; lines: readonly string[] } | undefined {
  try {
    const lines = readFileSync(`/proc/${pid}/mountinfo`, 'utf8').split('\n').filter(Boolean);
    const namespace = readlinkSync(`/proc/${pid}/ns/mnt`);
    const processes = readlinkSync(`/proc/${pid}/ns/pid`);
    return lines.length > 0 ? { namespace, processes, lines } : undefined;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (['ENOENT', 'ESRCH', 'EINVAL', 'EACCES'].includes(code)) return undefined;
    throw error;
  }
}

/** Of every process on the machine whose table names a folder, and of the machine itself. */
export function mountTablesNaming(folder: string): MountTables {
  const tables = new Map<string, readonly string[]>();
  for (const pid of ['self', ...readdirSync('/proc').filter((name) => Number(name) > 0)]) {
    const found = tableOf(pid);
    if (!found || tables.has(found.namespace)) continue;
    if (pid === 'self' || found.lines.some((line) => line.includes(folder))) {
      tables.set(found.namespace, found.lines);
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
