import type { ListedContainer } from '../practice-node.ts';
import type { KubeletContext } from './behaviour.ts';
import { podUidOf } from './pod-status.ts';
import { removeLogs } from './remove-logs.ts';

export interface Collector extends Omit<KubeletContext, 'kubeletRoot'> {
  /** Throws unless this process works in a practice directory. */
  readonly guard: () => void;
}

/** Stops containers of pods that the kubelet does not know; `collectContainers` removes them. */
export async function killUnknownContainers(
  podUids: ReadonlySet<string>,
  { runtime, say, wording }: Collector,
): Promise<void> {
  for (const container of await runtime.containers()) {
    const uid = podUidOf(container);
    if (container.state !== 'running' || podUids.has(uid)) continue;
    say(wording.unknownContainerKilled(uid, container.name));
    await runtime.stopContainer(container.id);
  }
}

/** Removes exited containers: all but the last of a known pod, and all of other pods. */
export async function collectContainers(
  livingPods: ReadonlySet<string>,
  collector: Collector,
): Promise<void> {
  const { runtime } = collector;
  const containers = await runtime.containers();
  for (const { id } of collectable(containers, livingPods)) await removeContainer(id, collector);
  const left = await runtime.containers();
  for (const pod of await runtime.pods()) {
    const isInUse = pod.isReady || left.some(({ podId }) => podId === pod.id);
    if (!isInUse && !livingPods.has(pod.uid)) await runtime.removePod(pod.id);
  }
}

export function collectable(
  containers: readonly ListedContainer[],
  livingPods: ReadonlySet<string>,
): readonly ListedContainer[] {
  const ended = containers
    .filter(({ state }) => state !== 'running')
    .toSorted((left, right) => right.attempt - left.attempt);
  const stored = new Set<string>();
  return ended.filter((container) => {
    const uid = podUidOf(container);
    const key = `${uid}/${container.name}`;
    if (!livingPods.has(uid) || stored.has(key)) return true;
    stored.add(key);
    return false;
  });
}

/** Removes the logs first. If that fails, the container stays and the removal is retried. */
export async function removeContainer(id: string, collector: Collector): Promise<void> {
  const { runtime, behaviour, wording, say, guard } = collector;
  const { logPath } = await runtime.status(id);
  const failure = removeLogs(logPath, behaviour, guard);
  if (failure === undefined) await runtime.removeContainer(id);
  else say(wording.removalFails(id, `failed to remove container "${id}" ${failure}`));
}
