import type { ListedContainer } from '../practice-node.ts';
import type { Collector } from './collect-containers.ts';
import { podUidOf } from './container-state.ts';
import type { Wording } from './wording.ts';

/** Running containers of pods that the kubelet was never told of, such as of one made past it. */
function unknownContainersIn(
  containers: readonly ListedContainer[],
  podUids: ReadonlySet<string>,
): readonly ListedContainer[] {
  return containers.filter(
    (container) => container.state === 'running' && !podUids.has(podUidOf(container)),
  );
}

/** A kubelet ends them within seconds; what it does with them then is the work of the collection. */
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
