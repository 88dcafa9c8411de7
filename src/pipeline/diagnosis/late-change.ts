import { isDeepStrictEqual } from 'node:util';
import type { DiagnosisStatus } from '../api/diagnosis.ts';
import { withResult } from '../graph/result-of.ts';
import type { Store, StoredObject } from '../store/store.ts';
import { answerOf } from '../store/store-answer.ts';
import { hasEnded } from './time-left.ts';

/** What still counts when all is done: how long it is kept. */
const COUNTS_AFTER_END: ReadonlySet<string> = new Set(['ttlSecondsAfterFinished']);

/** The fields of the spec that a change comes too late for, for the Diagnosis has ended. */
export function lateChanges(
  before: Pick<StoredObject, 'kind' | 'spec' | 'status'>,
  spec: StoredObject['spec'],
): readonly string[] {
  if (before.kind !== 'Diagnosis' || !hasEnded(before)) return [];
  const fields = new Set([...Object.keys(before.spec), ...Object.keys(spec)]);
  return [...fields].filter(
    (field) => !COUNTS_AFTER_END.has(field) && !isDeepStrictEqual(before.spec[field], spec[field]),
  );
}

/** One that has ended and was changed since: who waits until that is seen would wait for ever. */
export function isUnobserved(object: StoredObject): boolean {
  const { observedGeneration } = (object.status ?? {}) as DiagnosisStatus;
  return hasEnded(object) && observedGeneration !== object.metadata.generation;
}

/** Whoever is faster has changed it again, and is seen next. */
export async function observe(object: StoredObject, store: Store): Promise<void> {
  const { spec, metadata } = object;
  const status = withResult(spec, { ...object.status, observedGeneration: metadata.generation });
  await answerOf(store.updateStatus({ ...object, status }));
}
