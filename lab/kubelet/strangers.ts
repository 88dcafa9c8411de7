import type { ListedContainer } from '../practice-node.ts';
import type { Collector } from './collect-containers.ts';
import { podUidOf } from './container-state.ts';
import type { Wording } from './wording.ts';

/** Running containers of pods that the kubelet was never told of, such as of one made past it. */
function strangersIn(
  containers: readonly ListedContainer[],
  podUids: ReadonlySet<string>,
): readonly ListedContainer[] {
  return containers.filter(
    (container) => container.state === 'running' && !podUids.has(podUidOf(container)),
  );
}

/** A kubelet ends them within seconds; what it does with them then is the work of the collection. */
export async function killStrangers(
  podUids: ReadonlySet<string>,
  { runtime, say, wording }: Collector & { readonly wording: Pick<Wording, 'strangerKilled'> },
): Promise<void> {
  for (const stranger of strangersIn(await runtime.containers(), podUids)) {
    say(wording.strangerKilled(podUidOf(stranger), stranger.name));
    await runtime.stopContainer(stranger.id);
  }
}
