import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cluster } from '../../tools/cluster/cluster.ts';
import { LAST_WITH_STALE_SUBPATH } from '../../tools/cluster/kubernetes-recipes.ts';
import { ClusterCheck } from './cluster-check.ts';
import { type HungVolume, mountHungVolume } from './hung-volume.ts';
import { ownCluster } from './own-cluster.ts';

/** Of an orphaned pod. */
const POD_UID = 'b2f1c7a4-91d3-4e57-8a60-3d5c2b7e9f18';

export interface StuckCluster {
  readonly clusterCheck: ClusterCheck;
  readonly volume: HungVolume;
  /** When the mount died. */
  readonly since: number;
}

/** The files of the suite run in one process, which holds this between them. */
let begun: Promise<StuckCluster> | undefined;

/**
 * An old kubelet whose sync loop hangs on a dead cephfs mount. It says so itself after five minutes
 * only, so one test file begins it, and another ends it when the rest of the suite has run.
 */
export function stuckCluster(): Promise<StuckCluster> {
  begun ??= begin();
  // A later await gets the error.
  begun.catch(() => {});
  return begun;
}

async function begin(): Promise<StuckCluster> {
  const cluster = await ownCluster('stuck', { nodes: [{ kubelet: LAST_WITH_STALE_SUBPATH }] });
  await openReadOnlyPort(cluster);
  const clusterCheck = ClusterCheck.on(cluster, 'dead-volume-mount');
  await clusterCheck.applyPod('early');
  await cluster.kubectl('wait', '--for=condition=Ready', 'pod/early', '--timeout=90s');
  const volume = await mountHungVolume(cluster, POD_UID, 'kubernetes.io~cephfs/data');
  await clusterCheck.applyPod('late');
  return { clusterCheck, volume, since: Date.now() };
}

/** Nodes of that time mostly have it, and there the kubelet reports to everybody that its loop is stuck. */
async function openReadOnlyPort({ folder, parts }: Cluster): Promise<void> {
  const file = join(folder, 'kubelet.json');
  const config = JSON.parse(await readFile(file, 'utf8')) as object;
  await writeFile(file, JSON.stringify({ ...config, readOnlyPort: 10255 }));
  await parts.kubelet.stop();
  await parts.kubelet.start();
}

/** What the kubelet says of itself on one of its ports. */
export async function healthz({ clusterCheck }: StuckCluster, port: number): Promise<string> {
  const url = `http://127.0.0.1:${port}/healthz`;
  return (await clusterCheck.cluster.run(['curl', '--silent', url])).stdout;
}
