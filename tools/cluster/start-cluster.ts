import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { removeCgroupTree } from '../../lab/cgroups.ts';
import {
  makePrivateNamespaces,
  type PrivateNamespaces,
} from '../../test/rig/private-namespaces.ts';
import type { UnpackedPackages } from '../debian-packages.ts';
import { KUBEDIAG_IMAGE } from '../image/kubediag-image.ts';
import { type Binaries, findBinariesOfAll } from './binaries.ts';
import { allParts, type Cluster, RunningCluster } from './cluster.ts';
import { connectNodes } from './connect-nodes.ts';
import { importImages, writeImages } from './import-images.ts';
import type { Log } from './log.ts';
import { POD_IMAGE, RunningNode } from './node.ts';
import { nodePackages } from './node-packages.ts';
import { Part, type PartPlan } from './part.ts';
import { controlPlanePlans, nodePlans } from './parts.ts';
import { type ClusterSetup, setUpCluster } from './set-up-cluster.ts';
import { setUpNode } from './set-up-node.ts';

/** An old kubelet needs 20 s on an idle machine of two cores. */
const READY_MS = 180_000;
const CHECK_INTERVAL_MS = 200;
/** The kernel takes no longer name for a socket, and the kubelet makes some in its root. */
const SCRATCH_CHARS_MAX = 80;
/** The node has its own; whatever is below is not to be seen from inside. */
const COVERED = ['/var/lib/', '/var/log/', '/run/'];

interface NodeOptions {
  /** By default that of the cluster; from the second node on with the number of the node. */
  readonly name?: string;
  /** A version that can be built, or a path. */
  readonly kubelet?: string | undefined;
}

export interface ClusterOptions {
  readonly name: string;
  /** One node by default. The control plane runs on the first one. */
  readonly nodes?: readonly NodeOptions[];
  /** Version of all programs but kubectl, one that can be built. */
  readonly apiServer?: string | undefined;
  readonly assets?: string;
  /** The built kubediag: pods can run its image, KUBEDIAG_IMAGE. */
  readonly executable?: string | undefined;
  /** All state is stored here; it must not exist yet, and is removed in the end. */
  readonly scratch: string;
  readonly log?: Log;
  /** Gives up the start, and cleans up. */
  readonly signal?: AbortSignal;
}

/**
 * Starts a Kubernetes cluster and waits until its nodes are ready. It ends with stop(), or with the
 * process that called.
 */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { name, nodes = [{}], scratch } = options;
  const names = nodes.map((node, index) => node.name ?? (index ? `${name}-${index + 1}` : name));
  const binaries = await findBinariesOfAll(
    nodes.map(({ kubelet }) => kubelet),
    options,
  );
  if ('missing' in binaries) throw new Error(binaries.missing);
  const packages = await nodePackages();
  if ('missing' in packages) throw new Error(packages.missing);
  const programs = binaries.flatMap((found) => [found.kubelet, found['kube-apiserver']]);
  checkPlace(scratch, [packages.root, ...programs]);

  await mkdir(scratch, { mode: 0o700 });
  const cgroup = cgroupOf(scratch);
  const made: PrivateNamespaces[] = [];
  try {
    for (const _ of nodes) made.push(await makePrivateNamespaces({ also: ['net', 'ipc', 'uts'] }));
    const setup = await setUpCluster(scratch, names, packages);
    const connection = await connectNodes(made, setup.environment);
    made.push(connection);
    const given = { names, scratch, cgroup, binaries, packages, namespaces: made, setup };
    const cluster = await assemble(options, connection, given);
    await bringUp(cluster, packages, options);
    return cluster;
  } catch (error) {
    await Promise.all(made.map((namespaces) => namespaces.stop()));
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

interface Ingredients {
  readonly names: readonly string[];
  readonly scratch: string;
  readonly cgroup: string;
  /** For each node. */
  readonly binaries: readonly Binaries[];
  readonly packages: UnpackedPackages;
  /** For each node. */
  readonly namespaces: readonly PrivateNamespaces[];
  readonly setup: ClusterSetup;
}

async function assemble(
  { name, executable }: ClusterOptions,
  connection: PrivateNamespaces,
  ingredients: Ingredients,
): Promise<RunningCluster> {
  const { names, scratch, cgroup, binaries, packages, namespaces, setup } = ingredients;
  const nodes = await Promise.all(names.map((_, index) => assembleNode(index, ingredients)));
  const [first, ...others] = nodes;
  const [place] = namespaces;
  const [programs] = binaries;
  if (!first || !place || !programs) throw new Error('a cluster needs a node');
  const { certificates, files, environment, kubeconfig, logs } = setup;
  const options = { binaries: programs, certificates, files, packages: packages.root };
  return new RunningCluster({
    name,
    scratch,
    cgroup,
    kubeconfig,
    namespace: 'default',
    images: executable ? [POD_IMAGE, KUBEDIAG_IMAGE] : [POD_IMAGE],
    logs,
    connection,
    controlPlane: partsOf(controlPlanePlans(options), {
      enter: place.enter,
      environment,
      folder: logs,
    }),
    nodes: [first, ...others],
  });
}

async function assembleNode(index: number, ingredients: Ingredients): Promise<RunningNode> {
  const { names, scratch, cgroup, packages, setup } = ingredients;
  const name = names[index];
  const binaries = ingredients.binaries[index];
  const namespaces = ingredients.namespaces[index];
  if (!name || !binaries || !namespaces) throw new Error(`no node ${index}`);
  const folder = join(scratch, 'nodes', name);
  const given = { name, index, folder, cgroup, binaries, packages, namespaces, setup };
  const { options, programs } = await setUpNode(given);
  const { environment, kubeconfig } = setup;
  const logs = join(setup.logs, name);
  return new RunningNode({
    name,
    kubeletVersion: binaries.kubeletVersion,
    kubeconfig,
    programs,
    folder,
    logs,
    namespaces,
    parts: partsOf(nodePlans(options), { enter: namespaces.enter, environment, folder: logs }),
  });
}

function partsOf<Name extends string>(
  plans: Readonly<Record<Name, PartPlan>>,
  place: ConstructorParameters<typeof Part>[1],
): Readonly<Record<Name, Part>> {
  const parts = Object.entries<PartPlan>(plans).map(([name, plan]) => [
    name,
    new Part(plan, place),
  ]);
  return Object.fromEntries(parts) as Record<Name, Part>;
}

async function bringUp(
  cluster: RunningCluster,
  packages: UnpackedPackages,
  { log = () => {}, signal, executable }: ClusterOptions,
): Promise<void> {
  const { parts, nodes } = cluster;
  const start = (...started: readonly Part[]) => Promise.all(started.map((part) => part.start()));
  const deadline = Date.now() + READY_MS;
  const until = (what: string, condition: () => Promise<boolean>) =>
    waitUntil(cluster, what, condition, { deadline, signal });

  await start(parts.etcd, parts['kube-apiserver'], ...nodes.map((node) => node.parts.containerd));
  const archives = await writeImages(cluster.scratch, packages, executable);
  await Promise.all([
    ...nodes.map((node) =>
      until('the images are imported', () => importImages(node, archives, packages)),
    ),
    until('the API server is ready', () =>
      cluster.kubectl('get', '--raw=/readyz').then(
        (answer) => answer === 'ok',
        () => false,
      ),
    ),
  ]);
  log('API server ready');
  // Before, each of them would only wait longer from one vain try to the next.
  await start(...allParts(cluster).filter((part) => part.pid === 0));
  await until('the nodes are ready', () => isReady(cluster));
}

/** Watches for a change instead of polling, but not for so long that the end of a part goes unnoticed. */
const WAIT = ['wait', '--timeout=3s'];

async function isReady(cluster: RunningCluster): Promise<boolean> {
  const nodes = cluster.nodes.map(({ name }) => `node/${name}`);
  try {
    // Without its account no pod can be made, and a controller makes it when it comes to it.
    await cluster.kubectl(...WAIT, '--for=create', 'serviceaccount/default');
    await cluster.kubectl(...WAIT, '--for=condition=Ready', ...nodes);
    return true;
  } catch {
    return false; // Not yet, or one of the nodes is not there yet.
  }
}

async function waitUntil(
  cluster: RunningCluster,
  what: string,
  condition: () => Promise<boolean>,
  { deadline, signal }: { readonly deadline: number; readonly signal: AbortSignal | undefined },
): Promise<void> {
  while (!(await condition())) {
    signal?.throwIfAborted();
    const failed = allParts(cluster).find((part) => part.hasFailed());
    if (failed) throw new Error(`${failed.name} ended: ${await failed.lastLines()}`);
    if (Date.now() > deadline) throw new Error(await whyLate(cluster, what));
    await sleep(CHECK_INTERVAL_MS);
  }
}

async function whyLate({ nodes }: RunningCluster, what: string): Promise<string> {
  const logged = await Promise.all(
    nodes.map(
      async ({ name, parts }) => `the kubelet of ${name}: ${await parts.kubelet.lastLines()}`,
    ),
  );
  return `waited ${READY_MS / 1000} s in vain until ${what}; ${logged.join('\n')}`;
}
