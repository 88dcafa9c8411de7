import { globSync } from 'node:fs';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { cgroupOf } from '../../tools/cluster/start-cluster.ts';

export interface LeftOver {
  readonly kind: 'process' | 'mount' | 'cgroup';
  readonly what: string;
}

/** What is there of a cluster: all that names its directory. A stopped one has nothing of it. */
export async function leftOf(folder: string): Promise<readonly LeftOver[]> {
  const found: LeftOver[] = [];
  // A table can be long, and most processes share one.
  const seen = new Set<string>();
  for (const pid of (await readdir('/proc')).filter((name) => Number(name) > 0)) {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    const what = `${pid} ${command.replaceAll('\0', ' ')}`;
    if (command.includes(folder)) found.push({ kind: 'process', what });
    const namespace = await readlink(`/proc/${pid}/ns/mnt`).catch(() => '');
    if (seen.has(namespace)) continue;
    seen.add(namespace);
    const table = await readFile(`/proc/${pid}/mountinfo`, 'utf8').catch(() => '');
    if (table.includes(folder)) found.push({ kind: 'mount', what });
  }
  for (const what of globSync(`/sys/fs/cgroup/{,*}${cgroupOf(folder)}*`)) {
    found.push({ kind: 'cgroup', what });
  }
  return found;
}
