import { lstatSync, readdirSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ClusterNode } from '../../tools/cluster/node.ts';

/** Of a cluster with one node, or one of several. */
interface WithNode {
  readonly cluster: Pick<ClusterNode, 'parts'>;
}

/** Where the kubelet of a cluster works: a directory of its own in place of "/". */
export function workingFolder({ cluster }: WithNode): string {
  return join(dirname(cluster.parts.kubelet.log), 'kubelet.work');
}

/** What stands first in "/" of a node, in small. */
export async function setUpWorkingFolder(node: WithNode): Promise<void> {
  const work = workingFolder(node);
  await mkdir(join(work, 'boot'), { recursive: true });
  await writeFile(join(work, 'boot/vmlinuz'), '');
  await mkdir(join(work, 'etc'), { recursive: true });
  const bin = join(work, 'bin');
  if (!lstatSync(bin, { throwIfNoEntry: false })) await symlink('usr/bin', bin);
}

export function entries(node: WithNode): readonly string[] {
  return readdirSync(workingFolder(node)).toSorted();
}
