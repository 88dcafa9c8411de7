import type { DiagnosisStatus } from '../api/diagnosis.ts';
import { withResult } from '../graph/result-of.ts';
import type { Store, StoredObject } from '../store/store.ts';
import { answerOf } from '../store/store-answer.ts';
import { hasEnded } from './time-left.ts';

/** Changed after its end: a client may wait for its observedGeneration. */
export function isUnobserved(object: StoredObject): boolean {
  const { observedGeneration } = (object.status ?? {}) as DiagnosisStatus;
  return hasEnded(object) && observedGeneration !== object.metadata.generation;
}

/** After a conflict the next event brings it here again. */
export async function observeEnded(object: StoredObject, store: Store): Promise<void> {
  const { spec, metadata } = object;
  const status = withResult(spec, { ...object.status, observedGeneration: metadata.generation });
  await answerOf(store.updateStatus({ ...object, status }));
}
