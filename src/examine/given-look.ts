import { containerStatuses } from '../evidence/container-statuses.ts';
import { containers } from '../evidence/containers.ts';
import { leftoverFolders } from '../evidence/leftover-folders.ts';
import { runtime } from '../evidence/runtime.ts';
import { suspectMounts } from '../evidence/suspect-mounts.ts';
import { syncLoopDump } from '../evidence/sync-loop-dump.ts';
import { teardownLog } from '../evidence/teardown-log.ts';
import { unloggedContainers } from '../evidence/unlogged-containers.ts';
import type { Evidence, Look } from '../model/evidence.ts';
import { ReadError } from '../node/node-reader.ts';
import type { CaseFile } from './case-file.ts';

/** Says that a read failed for no other reason than that nobody sent what it asks for. */
export const NOT_GIVEN = 'not among what was given';

/** Evidence that is made from other evidence, or from answers that the given texts hold. */
const DERIVED: ReadonlySet<Evidence<unknown>> = new Set<Evidence<unknown>>([
  runtime,
  containers,
  containerStatuses,
  unloggedContainers,
  suspectMounts,
  leftoverFolders,
  syncLoopDump,
  teardownLog,
]);

/** A look at a node of which only the given texts are there. Nothing is guessed for the rest. */
export function givenLook({ values, node }: CaseFile): Look {
  const collected = new Map<Evidence<unknown>, Promise<unknown>>();
  const collect = async (evidence: Evidence<unknown>): Promise<unknown> => {
    if (values.has(evidence)) return values.get(evidence);
    if (DERIVED.has(evidence)) return evidence.collect(look);
    throw new ReadError('not-recorded', evidence.title, NOT_GIVEN);
  };
  const look: Look = {
    node,
    settings: {},
    of<T>(evidence: Evidence<T>): Promise<T> {
      const already = collected.get(evidence) as Promise<T> | undefined;
      if (already) return already;
      const collecting = collect(evidence);
      collected.set(evidence, collecting);
      return collecting as Promise<T>;
    },
  };
  return look;
}
