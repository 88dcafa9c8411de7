import { containerStatuses } from '../evidence/containers/container-statuses.ts';
import { containers } from '../evidence/containers/containers.ts';
import { runtime } from '../evidence/containers/runtime.ts';
import {
  type UnloggedContainers,
  unloggedContainers,
} from '../evidence/containers/unlogged-containers.ts';
import { kubeletLog } from '../evidence/logs/kubelet-log.ts';
import type { KubeletLog } from '../evidence/logs/log-entries.ts';
import { suspectMounts } from '../evidence/mounts/suspect-mounts.ts';
import { syncLoopDump } from '../evidence/stacks/sync-loop-dump.ts';
import { leftoverFolders } from '../evidence/volumes/leftover-folders.ts';
import { teardownLog } from '../evidence/volumes/teardown-log.ts';
import type { Evidence, Snapshot } from '../model/evidence.ts';
import { ReadError } from '../model/node-reader.ts';
import type { CaseFile } from './case-file.ts';

/** Says that a read failed for no other reason than that nobody sent what it asks for. */
export const NOT_GIVEN = 'not among what was given';

/** Evidence that is made from other evidence, or from answers that the given texts hold. */
const DERIVED: ReadonlySet<Evidence<unknown>> = new Set<Evidence<unknown>>([
  runtime,
  containers,
  containerStatuses,
  suspectMounts,
  leftoverFolders,
  syncLoopDump,
  teardownLog,
]);

/** A snapshot of a node that has only the given texts. Nothing is guessed for the rest. */
export function givenSnapshot(file: CaseFile): Snapshot {
  const { values, node } = file;
  const collected = new Map<Evidence<unknown>, Promise<unknown>>();
  const collect = async (evidence: Evidence<unknown>): Promise<unknown> => {
    if (values.has(evidence)) return values.get(evidence);
    if (DERIVED.has(evidence)) return evidence.collect(snapshot);
    if (evidence === unloggedContainers && file.runtime.inspected.size > 0) {
      return unloggedIn(file, snapshot);
    }
    throw new ReadError('not-recorded', evidence.title, NOT_GIVEN);
  };
  const snapshot: Snapshot = {
    node,
    settings: {},
    logSignatures: [],
    of<T>(evidence: Evidence<T>): Promise<T> {
      const already = collected.get(evidence) as Promise<T> | undefined;
      if (already) return already;
      const collecting = collect(evidence);
      collected.set(evidence, collecting);
      return collecting as Promise<T>;
    },
  };
  return snapshot;
}

/** Only those that the runtime was asked about; of the others nobody knows the log path. */
async function unloggedIn(
  { runtime: given, values }: CaseFile,
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
  const log = values.get(kubeletLog) as KubeletLog | undefined;
  const logged = (log?.entries ?? []).flatMap(({ fields }) => fields.containerId ?? []);
  return { ...found, listed: new Set([...idsOf(all.containers), ...logged]) };
}

function idsOf(list: readonly { readonly id: string }[]): ReadonlySet<string> {
  return new Set(list.map(({ id }) => id));
}
