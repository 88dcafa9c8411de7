import { globSync } from 'node:fs';
import { chmod, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { unpackedPackages } from '../../../tools/debian-packages.ts';
import type { SharedCluster } from '../shared-cluster.ts';

const ON_NODE = '/var/lib/kubediag-clock';
/** Not as on the node: a program that enters the node from a container has the clock of the node. */
const IN_CONTAINER = '/clock';
const LIBRARY = 'libfaketime.so.1';
/** Longer than a clock takes to notice that its file has changed. */
export const CLOCK_MS = 1_500;
const WRITTEN = { timeout: 60_000, interval: 500 };

/** A container of the installation. Its clock is the file of this name, on each node. */
export type ClockOf = 'agent' | 'executor' | 'controller';
const CONTAINERS: readonly ClockOf[] = ['agent', 'executor', 'controller'];

/** Puts the library on the nodes, and a file for each clock. All of them are right. */
export async function installClocks(cluster: SharedCluster): Promise<void> {
  const packages = await unpackedPackages(['libfaketime']);
  if ('missing' in packages) throw new Error(packages.missing);
  const [library] = globSync(`usr/lib/*/faketime/${LIBRARY}`, { cwd: packages.root });
  if (library === undefined) throw new Error(`${LIBRARY} is not in its package`);
  for (const node of cluster.nodes) {
    const folder = node.outside(ON_NODE);
    await mkdir(folder, { recursive: true });
    await copyFile(join(packages.root, library), join(folder, LIBRARY));
    await Promise.all([folder, join(folder, LIBRARY)].map((path) => chmod(path, 0o755)));
    for (const name of CONTAINERS) await setClock(cluster, node.name, name, '+0');
  }
}

/** Such as "+2h", from now on; "+0" is right. */
export async function setClock(
  cluster: SharedCluster,
  nodeName: string,
  name: ClockOf,
  offset: string,
): Promise<void> {
  await writeFile(join(cluster.node(nodeName).outside(ON_NODE), name), `${offset}\n`);
}

/** Shows that clocks can be set: what the container writes into the API server has the time of its clock. */
export async function expectClockMoves(
  cluster: SharedCluster,
  { nodeName, name }: { readonly nodeName: string; readonly name: ClockOf },
  writtenTime: () => Promise<string>,
): Promise<void> {
  const hoursAhead = async () => (Date.parse(await writtenTime()) - Date.now()) / 3_600_000;
  for (const hours of [2, 0]) {
    await setClock(cluster, nodeName, name, `+${hours}h`);
    // Half an hour more or less.
    await expect.poll(hoursAhead, WRITTEN).toBeCloseTo(hours, 0);
  }
}

interface PodSpec {
  readonly containers: readonly Container[];
  readonly volumes?: readonly object[];
}

interface Container {
  readonly name: string;
  readonly env?: readonly object[];
  readonly volumeMounts?: readonly object[];
}

/** Gives each container of a pod a clock that can be set while it runs. */
export function withClocks(spec: PodSpec): PodSpec {
  const clock = { name: 'clock', hostPath: { path: ON_NODE, type: 'Directory' } };
  // The library has a semaphore in it, named by a PID, which is 1 in every container of the pod.
  const memories = spec.containers.map(({ name }) => ({
    name: `shm-${name}`,
    emptyDir: { medium: 'Memory', sizeLimit: '1Mi' },
  }));
  return {
    ...spec,
    volumes: [...(spec.volumes ?? []), clock, ...memories],
    containers: spec.containers.map((container) => ({
      ...container,
      env: [...(container.env ?? []), ...clockSettings(container.name)],
      volumeMounts: [
        ...(container.volumeMounts ?? []),
        { name: 'clock', mountPath: IN_CONTAINER, readOnly: true },
        { name: `shm-${container.name}`, mountPath: '/dev/shm' },
      ],
    })),
  };
}

function clockSettings(container: string): readonly object[] {
  const settings = {
    LD_PRELOAD: join(IN_CONTAINER, LIBRARY),
    FAKETIME_TIMESTAMP_FILE: join(IN_CONTAINER, container),
    FAKETIME_CACHE_DURATION: '1',
    // Timers go on as usual.
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
  return Object.entries(settings).map(([name, value]) => ({ name, value }));
}
