import { unescapeOctal } from '../../std/unescape-octal.ts';
import { PLACES } from '../places.ts';
import type { PracticeNode } from '../practice-node.ts';
import type { Snapshot } from './compare.ts';
import { fileLines } from './files.ts';
import { mountLine } from './mount-line.ts';
import { mountTablesHere } from './mount-tables.ts';
import { type NodeProcess, processesHere } from './processes.ts';

/** Where something may be changed by accident, and how closely each folder is looked at. */
const FOLDERS = [
  { path: '/', depth: 1, detail: 'sizes' },
  { path: '/bin', depth: 1, detail: 'sizes' },
  { path: '/usr', depth: 1, detail: 'sizes' },
  { path: '/usr/bin', depth: 1, detail: 'sizes' },
  { path: '/usr/sbin', depth: 1, detail: 'sizes' },
  { path: '/usr/local', depth: 3, detail: 'sizes' },
  { path: '/etc', depth: 9, detail: 'sizes' },
  { path: '/var/lib', depth: 1, detail: 'names' },
  { path: PLACES.podLogs, depth: 9, detail: 'names' },
  // The kubelet's own records are written all the time; what it keeps for pods is not.
  { path: PLACES.kubeletRoot, depth: 1, detail: 'names' },
  { path: `${PLACES.kubeletRoot}/pods`, depth: 99, detail: 'contents' },
  { path: `${PLACES.kubeletRoot}/plugins`, depth: 99, detail: 'contents' },
] as const;

/** No part of the comparison. */
const ASIDE: readonly ((line: string) => boolean)[] = [
  // Whoever builds this program anew meanwhile changes nothing of the node.
  (line) => line.startsWith(`mount ${PLACES.executable} `),
  // The root of a container is there as long as the container, which has a line of its own.
  (line) => line.startsWith('mount /run/containerd/io.containerd.runtime.v2.task/'),
  // A real kubelet writes the hosts file of a container if it knew the pod's address in time; else
  // the runtime does: "file .../etc-hosts file 0644", "mount in wait: /etc/hosts /pods/..."
  (line) => /(^file \S+\/etc-hosts|^mount in .*: \/etc\/hosts) /.test(line),
];

/**
 * All of a practice node that a repair could change without saying so: mounts in every namespace,
 * processes, files, pods and containers. Taken on the node, and without touching a silent mount.
 */
export async function snapshotOf({ runtime }: PracticeNode): Promise<Snapshot> {
  const tables = mountTablesHere();
  const processes = processesHere();
  const own = [...tables.values()][0] ?? [];
  const lines = [
    ...[...tables].flatMap(([namespace, table], at) =>
      at === 0 ? table.map(mountLine) : linesInside(namespace, table, processes),
    ),
    ...processes.map(({ words }) => `process ${words}`),
    ...FOLDERS.flatMap((folder) => fileLines(folder, silentTargets(own))),
    ...(await runtimeLines(runtime)),
  ];
  const isAside = (line: string) => ASIDE.some((isOfThese) => isOfThese(line));
  return lines
    .filter((line) => !isAside(line))
    .map(withoutAccident)
    .toSorted();
}

/** Of a container, or of whoever else has mounts of its own; nothing of one that is on its way out. */
function linesInside(
  namespace: string,
  table: readonly string[],
  processes: readonly NodeProcess[],
): readonly string[] {
  const owner = processes.find((each) => each.mountNamespace === namespace);
  return owner
    ? table.map((line) => mountLine(line).replace('mount', `mount in ${owner.words}:`))
    : [];
}

/** Where somebody would wait for a server that may be silent. */
function silentTargets(table: readonly string[]): ReadonlySet<string> {
  const served = table.map(mountLine).filter((line) => / (fuse|nfs|cifs|9p|ceph)/.test(line));
  return new Set(served.map((line) => unescapeOctal(line.split(' ')[1] ?? '')));
}

async function runtimeLines(runtime: PracticeNode['runtime']): Promise<readonly string[]> {
  const [pods, containers] = await Promise.all([runtime.pods(), runtime.containers()]);
  const nameOf = (podId: string) => {
    const pod = pods.find(({ id }) => id === podId);
    return pod ? `${pod.namespace}/${pod.name}` : 'no pod';
  };
  return [
    ...pods.map((pod) => `pod ${nameOf(pod.id)} ${pod.uid} ${pod.isReady ? 'ready' : 'not ready'}`),
    ...containers.map(
      ({ podId, name, attempt, state }) =>
        `container ${nameOf(podId)} ${name} attempt ${attempt} ${state}`,
    ),
  ];
}

/**
 * What is different each time that the same thing is made anew: ids, the times in folder names, the file
 * for a container's last words, the number of its root, and the rights of what two threads of a kubelet
 * make in turn, each as it likes.
 */
function withoutAccident(line: string): string {
  return line
    .replace(/\b[0-9a-f]{64}\b/g, 'ID')
    .replace(/(\/containers\/[^/ ]+\/)[0-9a-f]{8}\b/g, '$1ID')
    .replace(/(\/snapshots\/)\d+\b/g, '$1ID')
    .replace(/(\/pods\/[^/ ]+(?:\/volumes)? folder) 075[05]/, '$1 RIGHTS')
    .replace(/\.\.\d{4}_\d\d_\d\d_\d\d_\d\d_\d\d\.\d+/g, '..TIME');
}
