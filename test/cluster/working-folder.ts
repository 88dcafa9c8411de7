import { lstatSync, readdirSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ClusterCheck } from './cluster-check.ts';

/** Where the kubelet of a cluster works: a directory of its own in place of "/". */
export function workingFolder({ cluster }: ClusterCheck): string {
  return join(dirname(cluster.parts.kubelet.log), 'kubelet.work');
}

/** What stands first in "/" of a node, in small. */
export async function setUpWorkingFolder(clusterCheck: ClusterCheck): Promise<void> {
  const work = workingFolder(clusterCheck);
  await mkdir(join(work, 'boot'), { recursive: true });
  await writeFile(join(work, 'boot/vmlinuz'), '');
  await mkdir(join(work, 'etc'), { recursive: true });
  const bin = join(work, 'bin');
  if (!lstatSync(bin, { throwIfNoEntry: false })) await symlink('usr/bin', bin);
}

export function entries(clusterCheck: ClusterCheck): readonly string[] {
  return readdirSync(workingFolder(clusterCheck)).toSorted();
}
