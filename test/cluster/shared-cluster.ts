import { setTimeout as sleep } from 'node:timers/promises';
import { inject } from 'vitest';
import { allParts, type Cluster } from '../../tools/cluster/cluster.ts';
import { folderOf, markOf, write, writeReady } from '../../tools/cluster/known-clusters.ts';
import { CURRENT, LAST_WITH_STALE_SUBPATH } from '../../tools/cluster/kubernetes-recipes.ts';
import { startCluster } from '../../tools/cluster/start-cluster.ts';
import { EXECUTABLE } from '../rig/run-kubediag.ts';
import { uninstall, waitUntilUninstalled } from './installation.ts';

/** A pod that ignores SIGTERM is killed after a second; then its volumes have to be unmounted. */
const RENEW_MS = 90_000;
const CHECK_INTERVAL_MS = 500;
const SOON = { limitMs: 20_000 };
/** As in the manuals whose manifests are applied here. */
export const NODE = 'my-node';
const LABEL = 'kubediag.test/shared';

/** The shared cluster with several nodes, one of each version. */
export const MIXED = 'mixed';
export const NEW_NODE = 'new-node';
export const OLD_NODE = 'old-node';
const MIXED_NODES = [
  { name: NEW_NODE, kubelet: CURRENT },
  { name: OLD_NODE, kubelet: LAST_WITH_STALE_SUBPATH },
];

/** A cluster that is not one's own: it ends with the run. */
export type SharedCluster = Omit<Cluster, 'stop'>;

/** The files of the suite run one after another in one process, which holds this between them. */
const running = new Map<string, Cluster>();
let takenTimes = 0;

/**
 * The cluster with this kubelet, or the mixed one, that all tests of a run share, started by the first caller. A caller who
 * asks gets it whole and empty, with a fresh Kubernetes namespace in which his kubectl works; what
 * the one before left is removed, so nobody has to give it back.
 */
export async function sharedCluster(kubelet: string): Promise<SharedCluster> {
  const cluster = (await renewed(running.get(kubelet))) ?? (await start(kubelet));
  running.set(kubelet, cluster);
  await writeReady(cluster);
  takenTimes += 1;
  const namespace = `test-${takenTimes}`;
  const metadata = { name: namespace, labels: { [LABEL]: '' } };
  await cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata });
  const own = await cluster.inNamespace(namespace);
  // Without its account no pod can be made, and a controller makes it when it comes to it.
  await own.kubectl('wait', '--for=create', 'serviceaccount/default', '--timeout=60s');
  return own;
}

async function start(kubelet: string): Promise<Cluster> {
  // test-812-1-36-3, test-812-mixed
  const name = [inject('clustersOfRun'), ...kubelet.replace(/^v/, '').split('.')].join('-');
  // Written down before there is anything, so that it is found whenever we are killed.
  await write({ name, supervisor: markOf(process.pid) });
  const scratch = folderOf(name);
  // The image is large, so only the nodes have it that run agents.
  return kubelet === MIXED
    ? startCluster({ name, nodes: MIXED_NODES, executable: EXECUTABLE, scratch })
    : startCluster({ name, nodes: [{ name: NODE, kubelet }], scratch });
}

/** One that cannot be made as new is ended, and another takes its place. */
async function renewed(cluster: Cluster | undefined): Promise<Cluster | undefined> {
  if (!cluster) return undefined;
  try {
    await complete(cluster);
    await makeEmpty(cluster);
    return cluster;
  } catch (error) {
    console.error(`"${cluster.name}" is replaced by a new one: ${(error as Error).message}`);
    await cluster.stop();
    return undefined;
  }
}

async function complete(cluster: Cluster): Promise<void> {
  for (const part of allParts(cluster)) {
    if (part.pid === 0) await part.start();
    else part.resume();
  }
  await until(cluster, 'its API server is ready', async () => {
    const { stdout } = await cluster.run(['kubectl', 'get', '--raw=/readyz'], SOON);
    return stdout === 'ok';
  });
  await cluster.kubectl('wait', '--for=condition=Ready', 'node', '--all', '--timeout=60s');
}

async function makeEmpty(cluster: Cluster): Promise<void> {
  await uninstall(cluster);
  // From here on nobody makes pods in them. They go by themselves, some time after their pods.
  await cluster.kubectl('delete', 'namespace', '--wait=false', `--selector=${LABEL}`);
  await cluster.kubectl('delete', 'deployment,daemonset', '--all', '--namespace=default');
  // The namespace would give each of its pods the half minute that is usual.
  const quickly = ['--grace-period=1', '--wait=false'];
  await cluster.kubectl('delete', 'pod', '--all', '--all-namespaces', ...quickly);
  await until(cluster, 'its pods are gone', async () => {
    const answers = await Promise.all([
      cluster.run(['kubectl', 'get', 'pods', '--all-namespaces', '--output=name'], SOON),
      ...cluster.nodes.map((node) => node.run(['ls', `${node.kubeletRoot}/pods`], SOON)),
    ]);
    return answers.every(({ code, stdout }) => code === 0 && stdout === '');
  });
  await waitUntilUninstalled(cluster);
}

async function until(
  cluster: Cluster,
  what: string,
  condition: () => Promise<boolean>,
): Promise<void> {
  const deadline = Date.now() + RENEW_MS;
  while (!(await condition())) {
    const failed = allParts(cluster).find((part) => part.hasFailed());
    if (failed) throw new Error(`${failed.name} ended`);
    if (Date.now() > deadline) throw new Error(`waited ${RENEW_MS / 1000} s in vain until ${what}`);
    await sleep(CHECK_INTERVAL_MS);
  }
}
