import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { fieldAt, isObject, listAt, textAt } from '../../src/lib/std/json.ts';
import { NAMESPACE } from '../../src/pipeline/api/cluster-names.ts';
import type { ClusterNode } from '../../tools/cluster/node.ts';
import { deployedProcesses } from './deployed-processes.ts';
import type { SharedCluster } from './shared-cluster.ts';

/** What an installation could leave on a cluster and on its nodes. */

/** Events expire. The Leases are those of kubelets and API servers, which come and go with them. */
const OTHERS = /^(?:events[./]|leases[.].+\/kube-)|^componentstatuses$/;

/** Of each object what its author wrote, by "resource.group/namespace/name". */
export type ClusterObjects = Readonly<Record<string, object>>;

/** All objects of all resources that can be listed. */
export async function clusterObjects(
  cluster: Pick<SharedCluster, 'kubectl'>,
): Promise<ClusterObjects> {
  const listed = await cluster.kubectl('api-resources', '--verbs=list', '--output=name');
  const resources = listed.trim().split('\n');
  const lists = await Promise.all(
    resources
      .filter((resource) => !OTHERS.test(`${resource}/`) && !OTHERS.test(resource))
      .map(async (resource) => {
        const text = await cluster.kubectl('get', resource, '--all-namespaces', '--output=json');
        const objects = listAt(JSON.parse(text), 'items') ?? [];
        return objects.map((object) => [keyOf(resource, object), writtenPart(object)] as const);
      }),
  );
  const objects = lists.flat().filter(([key]) => !OTHERS.test(key));
  return Object.fromEntries(objects.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

function keyOf(resource: string, object: unknown): string {
  const [namespace = '', name = ''] = ['namespace', 'name'].map((field) =>
    textAt(object, 'metadata', field),
  );
  return [resource, namespace, name].join('/');
}

/** Of the status only the types of conditions, which others than the controller of an object may add. */
function writtenPart(object: unknown): object {
  if (!isObject(object)) return {};
  const { metadata, status, ...rest } = object;
  const conditions = listAt(status, 'conditions') ?? [];
  return {
    ...rest,
    labels: fieldAt(metadata, 'labels'),
    annotations: fieldAt(metadata, 'annotations'),
    finalizers: fieldAt(metadata, 'finalizers'),
    conditions: conditions.map((condition) => textAt(condition, 'type') ?? ''),
  };
}

/** The same once a cluster that has just started has created all of its own. */
export async function settledObjects(
  cluster: Pick<SharedCluster, 'kubectl'>,
): Promise<ClusterObjects> {
  for (let before = await clusterObjects(cluster); ; ) {
    const now = await clusterObjects(cluster);
    // A node that has just become ready still has this taint for seconds.
    const isStarting = JSON.stringify(now).includes('"key":"node.kubernetes.io/not-ready"');
    if (!isStarting && isDeepStrictEqual(now, before)) return now;
    before = now;
  }
}

export interface NodeState {
  readonly directories: readonly string[];
  readonly mountPoints: readonly string[];
  readonly sockets: readonly string[];
  readonly processes: readonly number[];
}

/** Directories that a node has for itself. */
const FOLDERS = ['/var/lib', '/var/lib/kubelet/pods', '/run', '/run/netns'];
/** Of all pods: the kubelet removes them some time after the pod. */
const LOGS = ['/var/log/pods', '/var/log/containers'];

export function nodeState(node: ClusterNode): NodeState {
  const inProc = (path: string) => readFileSync(`/proc/${node.pid}/${path}`, 'utf8').split('\n');
  const logs = LOGS.flatMap((folder) => namesIn(node, folder));
  return {
    directories: [
      ...FOLDERS.flatMap((folder) => namesIn(node, folder)),
      ...logs.filter((path) => path.includes(NAMESPACE)),
    ].toSorted(),
    // 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw
    mountPoints: inProc('mountinfo').flatMap((line) => line.split(' ')[4] ?? []),
    // 0000000000000000: 00000002 00000000 00010000 0001 01 20580 /run/containerd/containerd.sock
    sockets: inProc('net/unix')
      .flatMap((line) => line.split(' ')[7] ?? [])
      .toSorted(),
    processes: deployedProcesses(node, ['agent', 'executor', 'controller']),
  };
}

export function namesIn(node: ClusterNode, folder: string): readonly string[] {
  const place = node.outside(folder);
  if (!existsSync(place)) return [];
  return readdirSync(place)
    .toSorted()
    .map((name) => `${folder}/${name}`);
}
