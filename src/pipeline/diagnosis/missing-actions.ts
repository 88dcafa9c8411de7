import type { DiagnosisStatus } from '../api/diagnosis.ts';
import type { SeenSet } from '../graph/decide-next.ts';
import { attemptedActionRecord } from '../operations/action-record.ts';
import type { StoredObject } from '../store/store.ts';
import type { DriverContext } from './driver-environment.ts';
import { purposeOf } from './purpose.ts';
import { withRecord } from './with-record.ts';

/**
 * The status of a Diagnosis that comes to its end at a step that it does not run: its deadline has
 * passed, or it is cancelled. When a crash had cut that very step short, what the step has done to
 * the node is told all the same.
 */
export async function withMissingActions(
  status: DiagnosisStatus,
  metadata: StoredObject['metadata'],
  set: SeenSet,
  { earlierActionsFor, onError }: Pick<DriverContext, 'earlierActionsFor' | 'onError'>,
): Promise<DiagnosisStatus> {
  const { checkpoint, steps = [] } = status;
  if (!earlierActionsFor || !checkpoint || set.state !== 'ready') return status;
  const node = set.paths[checkpoint.pathIndex]?.[checkpoint.nodeIndex];
  // Another path has run it to its end, and has told what it did.
  const isReported = steps.some(
    ({ pathIndex, nodeIndex, outcome }) =>
      set.paths[pathIndex]?.[nodeIndex]?.id === node?.id && outcome !== 'NotRun',
  );
  if (!node || isReported) return status;
  const actionRecords = await earlierActionsFor(purposeOf(metadata, node));
  if (!actionRecords.isKnown) {
    const what = `what a crash left open of Diagnosis ${metadata.name} cannot be seen yet`;
    onError?.(
      `${what}: ${actionRecords.why}; kubediag recover settles it, kubediag journal tells it`,
    );
    return status;
  }
  if (actionRecords.done.length === 0) return status;
  return withRecord(status, { actions: actionRecords.done.map(attemptedActionRecord) });
}
