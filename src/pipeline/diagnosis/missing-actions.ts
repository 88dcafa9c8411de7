import type { DiagnosisStatus } from '../api/diagnosis.ts';
import type { SeenSet } from '../graph/decide-next.ts';
import { attemptedActionRecord } from '../operations/action-record.ts';
import type { StoredObject } from '../store/store.ts';
import type { DriverContext } from './driver-context.ts';
import { purposeOf } from './purpose.ts';
import { withRecord } from './with-record.ts';

/**
 * The status of a Diagnosis that ends by a cancel or its deadline before its current step runs again.
 * If a crash interrupted that step, the status lists what the step had done to the node.
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
  // It was completed in another path, and its actions are listed.
  const isReported = steps.some(
    ({ pathIndex, nodeIndex, outcome }) =>
      set.paths[pathIndex]?.[nodeIndex]?.id === node?.id && outcome !== 'NotRun',
  );
  if (!node || isReported) return status;
  const earlier = await earlierActionsFor(purposeOf(metadata, node));
  if (!earlier.isKnown) {
    const what = `Diagnosis ${metadata.name}: the result of an interrupted action is unknown`;
    onError?.(`${what}: ${earlier.why}; run kubediag recover, then see kubediag journal`);
    return status;
  }
  if (earlier.done.length === 0) return status;
  return withRecord(status, { actions: earlier.done.map(attemptedActionRecord) });
}
