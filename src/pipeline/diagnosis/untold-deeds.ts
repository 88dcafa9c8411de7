import type { DiagnosisStatus } from '../api/diagnosis.ts';
import type { SeenSet } from '../graph/decide-next.ts';
import { deedRecord } from '../operations/action-record.ts';
import type { StoredObject } from '../store/store.ts';
import type { DriveWorld } from './drive-world.ts';
import { purposeOf } from './purpose.ts';
import { withRecord } from './with-record.ts';

/**
 * The status of a Diagnosis that comes to its end at a step that it does not run: its deadline has
 * passed, or it is cancelled. When a crash had cut that very step short, what the step has done to
 * the node is told all the same.
 */
export async function withUntoldDeeds(
  status: DiagnosisStatus,
  metadata: StoredObject['metadata'],
  set: SeenSet,
  { deedsFor, onTrouble }: Pick<DriveWorld, 'deedsFor' | 'onTrouble'>,
): Promise<DiagnosisStatus> {
  const { checkpoint, steps = [] } = status;
  if (!deedsFor || !checkpoint || set.state !== 'ready') return status;
  const node = set.paths[checkpoint.pathIndex]?.[checkpoint.nodeIndex];
  // Another path has run it to its end, and has told what it did.
  const isTold = steps.some(
    ({ pathIndex, nodeIndex, outcome }) =>
      set.paths[pathIndex]?.[nodeIndex]?.id === node?.id && outcome !== 'NotRun',
  );
  if (!node || isTold) return status;
  const deeds = await deedsFor(purposeOf(metadata, node));
  if (!deeds.isKnown) {
    const what = `what a crash left open of Diagnosis ${metadata.name} cannot be seen yet`;
    onTrouble?.(`${what}: ${deeds.why}; kubediag recover settles it, kubediag journal tells it`);
    return status;
  }
  if (deeds.done.length === 0) return status;
  return withRecord(status, { actions: deeds.done.map(deedRecord) });
}
