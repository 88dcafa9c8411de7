import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { removeCgroupTree } from '../../lab/cgroups.ts';
import {
  makePrivateNamespaces,
  type PrivateNamespaces,
} from '../../test/rig/private-namespaces.ts';
import type { UnpackedPackages } from '../debian-packages.ts';
import { type Binaries, findBinaries } from './binaries.ts';
import { type Cluster, RunningCluster } from './cluster.ts';
import type { Log } from './log.ts';
import { nodePackages } from './node-packages.ts';
import { Part } from './part.ts';
import { PART_NAMES, type PartName, partPlans } from './parts.ts';
import { importImage, setUpNode } from './set-up-node.ts';

/** An old kubelet needs 20 s on an idle machine of two cores. */
const READY_MS = 180_000;
const CHECK_INTERVAL_MS = 200;
/** The kernel takes no longer name for a socket, and the kubelet makes some in its root. */
const SCRATCH_CHARS_MAX = 80;
/** The node has its own; whatever is below is not to be seen from inside. */
const COVERED = ['/var/lib/', '/var/log/', '/run/'];

export interface ClusterOptions {
  readonly name: string;
  /** That of the cluster when it is not given. */
  readonly nodeName?: string;
  /** A version that can be built, or a path. */
  readonly kubelet?: string;
  readonly assets?: string;
  /** All state is stored here; it must not exist yet, and is removed in the end. */
  readonly scratch: string;
  readonly log?: Log;
  /** Gives up the start, and cleans up. */
  readonly signal?: AbortSignal;
}

/**
 * Starts a Kubernetes cluster of one node and waits until the node is ready. It ends with stop(), or
 * with the process that called.
 */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { name, nodeName = name, scratch } = options;
  const binaries = await findBinaries(options);
  if ('missing' in binaries) throw new Error(binaries.missing);
  const packages = await nodePackages();
  if ('missing' in packages) throw new Error(packages.missing);
  checkPlace(scratch, [packages.root, binaries.kubelet, binaries['kube-apiserver']]);

  await mkdir(scratch, { mode: 0o700 });
  const cgroup = cgroupOf(scratch);
  let namespaces: PrivateNamespaces | undefined;
  try {
    namespaces = await makePrivateNamespaces({ also: ['net', 'ipc', 'uts'] });
    const given = { name, nodeName, scratch, cgroup, binaries, packages, namespaces };
    const cluster = await assemble(given);
    await bringUp(cluster, packages, options);
    return cluster;
  } catch (error) {
    await namespaces?.stop();
    await removeCgroupTree(cgroup);
    await rm(scratch, { recursive: true, force: true });
    throw error;
  }
}

/** The scratch directory names it, so that what a crash left can be found again. */
export function cgroupOf(scratch: string): string {
  // /var/my cache/kubediag: a blank would have to be quoted wherever the name is handed on.
  return `/kubediag-cluster${scratch.replaceAll(/[^\w.-]/g, '-')}`;
}

function checkPlace(scratch: string, programs: readonly string[]): void {
  if (scratch.length > SCRATCH_CHARS_MAX) {
    throw new Error(`${scratch} is too long for sockets in it; take a folder in ${tmpdir()}`);
  }
  const hidden = [scratch, ...programs].find((path) =>
    COVERED.some((folder) => path.startsWith(folder)),
  );
  if (hidden) {
    throw new Error(
      `${hidden} cannot be seen from the node, which has its own ${COVERED.join(', ')}; ` +
        'put scratch directory and cache elsewhere (XDG_CACHE_HOME)',
    );
  }
}

async function assemble(ingredients: {
  readonly name: string;
  readonly nodeName: string;
  readonly scratch: string;
  readonly cgroup: string;
  readonly binaries: Binaries;
  readonly packages: UnpackedPackages;
  readonly namespaces: PrivateNamespaces;
}): Promise<RunningCluster> {
  const { name, scratch, cgroup, binaries, namespaces } = ingredients;
  const { options, environment, kubeconfig, logs, programs } = await setUpNode(ingredients);
  const plans = partPlans(options);
  const place = { enter: namespaces.enter, environment, folder: logs };
  const part = (of: PartName) => [of, new Part(plans[of], place)] as const;
  return new RunningCluster({
    name,
    scratch,
    cgroup,
    kubeconfig,
    namespace: 'default',
    programs,
    logs,
    kubeletVersion: binaries.kubeletVersion,
    namespaces,
    parts: Object.fromEntries(PART_NAMES.map(part)) as Record<PartName, Part>,
  });
}

async function bringUp(
  cluster: RunningCluster,
  packages: UnpackedPackages,
  { log = () => {}, signal }: ClusterOptions,
): Promise<void> {
  const { parts } = cluster;
  const start = (...names: readonly PartName[]) =>
    Promise.all(names.map((name) => parts[name].start()));
  const deadline = Date.now() + READY_MS;
  const until = (what: string, condition: () => Promise<boolean>) =>
    waitUntil(cluster, what, condition, { deadline, signal });

  await start('etcd', 'containerd', 'kube-apiserver');
  await Promise.all([
    until('the image is imported', () => importImage(cluster, packages)),
    until('the API server is ready', () =>
      cluster.kubectl('get', '--raw=/readyz').then(
        (answer) => answer === 'ok',
        () => false,
      ),
    ),
  ]);
  log('API server ready');
  // Before, each of them would only wait longer from one vain try to the next.
  await start('kube-controller-manager', 'kube-scheduler', 'kube-proxy', 'kubelet');
  await until('the node is ready', () => isReady(cluster));
}

/** Watches for a change instead of polling, but not for so long that the end of a part goes unnoticed. */
const WAIT = ['wait', '--timeout=3s'];

async function isReady(cluster: RunningCluster): Promise<boolean> {
  try {
    // Without its account no pod can be made, and a controller makes it when it comes to it.
    await cluster.kubectl(...WAIT, '--for=create', 'serviceaccount/default');
    await cluster.kubectl(...WAIT, '--for=condition=Ready', 'node', '--all');
    return true;
  } catch {
    return false; // Not yet, or there is no node yet.
  }
}

async function waitUntil(
  { parts }: RunningCluster,
  what: string,
  condition: () => Promise<boolean>,
  { deadline, signal }: { readonly deadline: number; readonly signal: AbortSignal | undefined },
): Promise<void> {
  while (!(await condition())) {
    signal?.throwIfAborted();
    const failed = Object.values(parts).find((part) => part.hasFailed());
    if (failed) throw new Error(`${failed.name} ended: ${await failed.lastLines()}`);
    if (Date.now() > deadline) {
      const text = await parts.kubelet.lastLines();
      throw new Error(`waited ${READY_MS / 1000} s in vain until ${what}; the kubelet: ${text}`);
    }
    await sleep(CHECK_INTERVAL_MS);
  }
}
