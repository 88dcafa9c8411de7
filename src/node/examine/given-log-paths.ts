import { containers } from '../evidence/containers/containers.ts';
import {
  type UnloggedContainers,
  unloggedContainers,
} from '../evidence/containers/unlogged-containers.ts';
import type { KubeletLog } from '../evidence/logs/log-entries.ts';
import type { Evidence, Snapshot } from '../model/evidence.ts';
import type { GivenRuntime } from './given-runtime.ts';

/** Only the containers that were inspected; the log paths of the others are unknown. */
export async function givenLogPaths(
  given: GivenRuntime,
  log: KubeletLog | undefined,
  snapshot: Snapshot,
): Promise<UnloggedContainers> {
  const all = await snapshot.of(containers);
  const asked = all.containers.filter(({ id }) => given.inspected.has(id));
  const narrowed: Snapshot = {
    ...snapshot,
    of: <T>(evidence: Evidence<T>) =>
      evidence === (containers as Evidence<unknown>)
        ? (Promise.resolve({ ...all, containers: asked }) as Promise<T>)
        : snapshot.of(evidence),
  };
  const found = await unloggedContainers.collect(narrowed);
  if (given.hasContainerList) return { ...found, listed: idsOf(all.containers) };
  // Without the list a container that the log speaks of may well be there still.
  const logged = (log?.entries ?? []).flatMap(({ fields }) => fields.containerId ?? []);
  return { ...found, listed: new Set([...idsOf(all.containers), ...logged]) };
}

function idsOf(list: readonly { readonly id: string }[]): ReadonlySet<string> {
  return new Set(list.map(({ id }) => id));
}
