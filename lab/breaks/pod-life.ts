import { readFileSync } from 'node:fs';
import { PLACES } from '../places.ts';
import type { KubernetesObject, ListedContainer, PracticeNode } from '../practice-node.ts';
import type { PodObject } from '../practice-pod.ts';

/** Creates a pod and the objects that it mounts, and waits until all its containers run. */
export async function runPod(
  node: PracticeNode,
  pod: PodObject,
  mounted: readonly KubernetesObject[] = [],
): Promise<void> {
  for (const object of mounted) node.put(object);
  node.put(pod);
  await untilItRuns(node, pod);
}

export async function untilItRuns(node: PracticeNode, pod: PodObject): Promise<void> {
  const names = containerNames(pod);
  await node.until(`the containers of pod ${pod.metadata.name} run`, async () => {
    const newest = await newestContainers(node, pod);
    return newest.length === names.length && newest.every(({ state }) => state === 'running');
  });
}

/** Kills all containers of a pod as a crash does: the kubelet decides whether to restart them. */
export async function endContainers(node: PracticeNode, pod: PodObject): Promise<void> {
  for (const { id } of await newestContainers(node, pod)) await node.runtime.stopContainer(id);
}

/** Waits until the kubelet has tried to restart all containers, and the runtime refused. */
export async function untilRefused(
  node: PracticeNode,
  pod: PodObject,
  text = 'no such file or directory',
): Promise<void> {
  const names = containerNames(pod);
  await node.until(`the runtime refuses to start pod ${pod.metadata.name}`, async () => {
    const newest = await newestContainers(node, pod);
    const ended = newest.filter(({ state }) => state === 'exited');
    const said = await Promise.all(ended.map(({ id }) => node.runtime.status(id)));
    return said.filter(({ message }) => message.includes(text)).length === names.length;
  });
}

/** Waits until the kubelet has rewritten the volumes of all subPath mounts of a pod. */
export async function untilStale(node: PracticeNode, { metadata }: PodObject): Promise<void> {
  await node.until(`the subPath mounts of pod ${metadata.name} lose their source`, () => {
    const mounts = subpathMounts(metadata.uid);
    return mounts.length > 0 && mounts.every(({ isStale }) => isStale);
  });
}

interface SubpathMount {
  readonly target: string;
  readonly isStale: boolean;
}

/** The subPath mounts of a pod; the kernel marks a deleted source. */
function subpathMounts(podUid: string): readonly SubpathMount[] {
  const folder = `${PLACES.kubeletRoot}/pods/${podUid}/volume-subpaths/`;
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, , , , target]) => target?.startsWith(folder))
    .map(([, , , root = '', target = '']) => ({ target, isStale: root.endsWith('//deleted') }));
}

/** The newest attempt of each container of a pod. */
export async function newestContainers(
  node: PracticeNode,
  { metadata }: PodObject,
): Promise<readonly ListedContainer[]> {
  const ours = (await node.runtime.containers()).filter(
    ({ labels }) => labels['io.kubernetes.pod.uid'] === metadata.uid,
  );
  return [...Map.groupBy(ours, ({ name }) => name).values()].flatMap((attempts) =>
    attempts.toSorted((left, right) => right.attempt - left.attempt).slice(0, 1),
  );
}

function containerNames({ spec }: PodObject): readonly string[] {
  const { containers = [] } = (spec ?? {}) as { containers?: readonly { name: string }[] };
  return containers.map(({ name }) => name);
}
