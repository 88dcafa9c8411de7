import { expect } from 'vitest';
import { killIfThere } from '../../../lab/process-mark.ts';
import { deployedProcesses, parentOf } from '../deployed-processes.ts';
import type { SharedCluster } from '../shared-cluster.ts';

const ROLES = ['agent', 'executor', 'controller'] as const;

/** Kills the kubelet of a node and all of KubeDiag on it: without a kubelet nothing starts again. */
export async function killNode(cluster: SharedCluster, nodeName: string): Promise<void> {
  const node = cluster.node(nodeName);
  await node.parts.kubelet.stop('SIGKILL');
  const running = () => deployedProcesses(node, ROLES);
  // Their parents are the first processes of their containers, and start them again.
  for (const pid of deployedProcesses(node)) killIfThere(parentOf(pid));
  for (const pid of running()) killIfThere(pid);
  await expect.poll(running).toEqual([]);
}

/** As a machine does that boots again. */
export async function startNode(cluster: SharedCluster, nodeName: string): Promise<void> {
  await cluster.node(nodeName).parts.kubelet.start();
}
