import type { DiagnosisSpec, DiagnosisStatus } from '../api/diagnosis.ts';
import { afterStep } from '../graph/after-step.ts';
import { failedFor, withoutPlan } from '../graph/conditions.ts';
import type { GraphPath } from '../graph/paths.ts';
import { withResult } from '../graph/result-of.ts';
import { failedWith, type OperationResult } from '../operations/operation-result.ts';
import { OBJECT_BYTES_MAX } from '../store/limits.ts';
import type { StoredObject } from '../store/store.ts';
import { retried } from '../store/store-answer.ts';
import type { StoreError } from '../store/store-error.ts';
import { keyOf } from '../store/stored-object.ts';
import { boundedResults } from './bounded-results.ts';
import { type DriverContext, retryOptionsOf } from './driver-context.ts';
import { restMs } from './time-left.ts';
import { withRecord } from './with-record.ts';

/**
 * Writes the result of the step at the checkpoint together with the next checkpoint. If somebody else
 * has changed the object since, the result is added to that: a step does not run again because of it.
 */
export async function storeResult(
  begun: StoredObject,
  result: OperationResult,
  paths: readonly GraphPath[],
  context: DriverContext,
  stop: AbortSignal,
): Promise<StoredObject | 'changed' | 'gone' | 'interrupted'> {
  const { store, now = () => new Date() } = context;
  const key = keyOf(begun);
  // Each takes less space than the one before.
  const attempts = [
    (object: StoredObject) => afterResult(object, result, paths, context),
    (object: StoredObject) => {
      const message = `the Diagnosis with its results would exceed ${OBJECT_BYTES_MAX} bytes`;
      return afterResult(object, failedWith(message), paths, context);
    },
    async (object: StoredObject) => bareFailure(object, now()),
  ];
  let current = begun;
  for (let attempt = 0; ; ) {
    const status = await attempts[attempt]?.(current);
    if (!status) return 'interrupted';
    const ended = result.succeeded ? status : endedEarly(current, status, now(), stop.aborted);
    const { spec, metadata } = current;
    const observed = withResult(spec, { ...ended, observedGeneration: metadata.generation });
    const answer = await retried(
      () => store.updateStatus({ ...current, status: observed }),
      retryOptionsOf(context),
    );
    if (answer.ok) {
      context.onSaved?.(answer.value);
      return answer.value;
    }
    if (isUnstorable(answer.error)) attempt += 1;
    else if (answer.error.reason === 'NotFound') return 'gone';
    else if (answer.error.reason === 'Conflict') {
      const again = await retried(() => store.get(key), retryOptionsOf(context));
      if (!again.ok) return 'interrupted';
      if (again.value?.metadata.uid !== begun.metadata.uid) return 'gone';
      // Another writer has run this step too; its result counts.
      if (!isAtSameStep(begun, again.value)) return 'changed';
      current = again.value;
    } else return 'interrupted';
  }
}

/** A smaller or plainer object may still be stored. */
export function isUnstorable({ reason }: StoreError): boolean {
  return reason === 'RequestEntityTooLarge' || reason === 'Invalid';
}

/** A step that was aborted says nothing about its path: the Diagnosis ends with it. */
function endedEarly(
  object: StoredObject,
  after: DiagnosisStatus,
  now: Date,
  isStopped: boolean,
): DiagnosisStatus {
  const spec = object.spec as DiagnosisSpec;
  const before = (object.status ?? {}) as DiagnosisStatus;
  const isLate = restMs(spec, before, now) === 0;
  if (!isStopped && !spec.cancel && !isLate) return after;
  const reason = isStopped || spec.cancel ? 'DiagnosisCancelled' : 'DeadlineExceeded';
  return failedFor(after, reason, now, String(spec.deadlineSeconds));
}

/** The shortest status of a failed Diagnosis. */
export function bareFailure(
  { spec, status }: StoredObject,
  now: Date,
  message = 'the object has no space for a status: make the spec smaller',
): DiagnosisStatus {
  const { startTime, checkpoint } = (status ?? {}) as DiagnosisStatus;
  const bare = { ...(startTime ? { startTime } : {}), ...(checkpoint ? { checkpoint } : {}) };
  return withResult(spec, failedFor(bare, 'SyncDiagnosisFailed', now, message));
}

async function afterResult(
  { metadata: { uid }, spec, status: before = {} }: StoredObject,
  result: OperationResult,
  paths: readonly GraphPath[],
  { largeResults, now = () => new Date() }: DriverContext,
): Promise<DiagnosisStatus> {
  const status = withoutPlan(before, spec as DiagnosisSpec, now());
  const bounded = boundedResults(uid, status, result.results ?? {});
  const fail = (message: string) =>
    afterStep(withRecord(status, result.record), paths, { succeeded: false, message }, now());
  if ('error' in bounded) return fail(bounded.error);
  for (const { file, text } of bounded.files) {
    const stored = await largeResults.store(uid, file, text);
    if (!stored.ok) return fail(`its results cannot be stored: ${stored.why}`);
  }
  const { operationResults, largeResults: large } = bounded.shown;
  const { largeResults: _, ...rest } = status;
  const shown = { ...rest, ...(large.length > 0 ? { largeResults: large } : {}) };
  const { record, ...plain } = result;
  const ended = result.results === undefined ? plain : { ...plain, results: operationResults };
  return afterStep(withRecord(shown, record), paths, ended, now());
}

export function isAtSameStep(
  { status: left = {} }: StoredObject,
  { status: right = {} }: StoredObject,
) {
  const [one, other] = [left, right].map((each) => each as DiagnosisStatus);
  return (
    one?.phase === other?.phase &&
    one?.checkpoint?.pathIndex === other?.checkpoint?.pathIndex &&
    one?.checkpoint?.nodeIndex === other?.checkpoint?.nodeIndex
  );
}
