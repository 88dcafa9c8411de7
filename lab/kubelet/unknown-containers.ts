import type { ListedContainer } from '../practice-node.ts';
import type { Collector } from './collect-containers.ts';
import { podUidOf } from './container-state.ts';
import type { Wording } from './wording.ts';

/** Running containers of pods that the kubelet does not know. */
function unknownContainersIn(
  containers: readonly ListedContainer[],
  podUids: ReadonlySet<string>,
): readonly ListedContainer[] {
  return containers.filter(
    (container) => container.state === 'running' && !podUids.has(podUidOf(container)),
  );
}

/** A kubelet ends them within seconds; garbage collection removes them. */
export async function killUnknownContainers(
  podUids: ReadonlySet<string>,
  {
    runtime,
    say,
    wording,
  }: Collector & { readonly wording: Pick<Wording, 'unknownContainerKilled'> },
): Promise<void> {
  for (const unknownContainer of unknownContainersIn(await runtime.containers(), podUids)) {
    say(wording.unknownContainerKilled(podUidOf(unknownContainer), unknownContainer.name));
    await runtime.stopContainer(unknownContainer.id);
  }
}
