import type { DiagnosisStatus } from '../api/diagnosis.ts';
import { withResult } from '../graph/result-of.ts';
import { ROWS_PER_PAGE } from './limits.ts';
import type { Store, StoredObject } from './store.ts';
import { answerOf } from './store-answer.ts';
import { hasEnded } from './time-left.ts';

/**
 * Writes the result of each Diagnosis that an earlier version has ended without one. A few at a time:
 * a store may hold more of them than memory does. One that is not written now is at the next start.
 */
export async function fillResults(store: Store, shutdown: AbortSignal): Promise<void> {
  const { objects } = await store.each('Diagnosis');
  const batch: StoredObject[] = [];
  const write = () =>
    Promise.all(batch.splice(0).map((each) => answerOf(store.updateStatus(each))));
  for (const object of objects) {
    if (shutdown.aborted) return;
    const before: DiagnosisStatus = object.status ?? {};
    const status = hasEnded(object) ? withResult(object.spec, before) : before;
    if (status !== before) batch.push({ ...object, status });
    if (batch.length >= ROWS_PER_PAGE) await write();
  }
  await write();
}
