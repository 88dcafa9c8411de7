import { readFileSync, readlinkSync } from 'node:fs';
import { unescapeOctal } from '../src/lib/std/unescape-octal.ts';
import { allProcesses, procFile } from './process-mark.ts';
import { unlessGone } from './unless-gone.ts';

/** All mount points, outermost first, with duplicates. Touches no path. */
export function mountPoints(): readonly string[] {
  // 812 29 0:52 / /var/lib/kubelet/pods/29da.../volumes/kubernetes.io~secret/key rw,relatime ...
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .flatMap((line) => line.split(' ')[4] ?? [])
    .map(unescapeOctal);
}

/**
 * A mount as a line of the comparison: "mount TARGET ROOT TYPE SOURCE OPTIONS". The ids are left
 * out, because they are new at every mount.
 */
export function mountLine(line: string): string {
  // 65 44 254:0 /pods/u1/app.conf /pods/u1/subpath/0 rw,relatime shared:1 - ext4 /dev/vda rw
  const [before = '', after = ''] = line.split(' - ', 2);
  const [, , , root, target, options] = before.split(' ');
  const [type, source] = after.split(' ');
  return `mount ${target} ${root} ${type} ${source} ${options}`;
}

/** The lines of every mount table that is reachable from these namespaces, by namespace. */
export type MountTables = ReadonlyMap<string, readonly string[]>;

/** The mount tables of all visible processes, our own first; each namespace is read only once. */
export function mountTablesHere(): MountTables {
  const tables = new Map<string, readonly string[]>();
  for (const pid of [process.pid, ...allProcesses()]) {
    const namespace = unlessGone(() => readlinkSync(`/proc/${pid}/ns/mnt`));
    if (!namespace || tables.has(namespace)) continue;
    const table = procFile(pid, 'mountinfo');
    if (table) tables.set(namespace, table.split('\n').filter(Boolean));
  }
  return tables;
}
