import type { DiagnosisSpec, DiagnosisStatus } from '../api/diagnosis.ts';
import { afterStep } from '../graph/after-step.ts';
import { failedFor, withoutPlan } from '../graph/conditions.ts';
import type { GraphPath } from '../graph/paths.ts';
import { withResult } from '../graph/result-of.ts';
import { failedWith, type OperationResult } from '../operations/operation-result.ts';
import { OBJECT_BYTES_MAX } from '../store/limits.ts';
import type { StoredObject } from '../store/store.ts';
import { patiently } from '../store/store-answer.ts';
import { keyOf } from '../store/stored-object.ts';
import { boundedResults } from './bounded-results.ts';
import { type DriverContext, patienceOf } from './driver-environment.ts';
import { restMs } from './time-left.ts';
import { withRecord } from './with-record.ts';

/**
 * Writes what came of the step at the checkpoint, together with the next checkpoint. When somebody
 * has changed the object meanwhile, the result is added to what it is now: a step that was run is not
 * run again because its result came late.
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
  const ways = [
    (object: StoredObject) => afterResult(object, result, paths, context),
    (object: StoredObject) => {
      const words = `with what it found the Diagnosis has more than ${OBJECT_BYTES_MAX} bytes`;
      return afterResult(object, failedWith(words), paths, context);
    },
    async (object: StoredObject) => bareFailure(object, now()),
  ];
  let current = begun;
  for (let way = 0; ; ) {
    const status = await ways[way]?.(current);
    if (!status) return 'interrupted';
    const ended = result.succeeded ? status : cutShort(current, status, now(), stop.aborted);
    const { spec, metadata } = current;
    const observed = withResult(spec, { ...ended, observedGeneration: metadata.generation });
    const answer = await patiently(
      () => store.updateStatus({ ...current, status: observed }),
      patienceOf(context),
    );
    if (answer.ok) {
      context.onSaved?.(answer.value);
      return answer.value;
    }
    const { trouble } = answer.error;
    if (trouble === 'TooLarge') way += 1;
    else if (trouble === 'NotFound') return 'gone';
    else if (trouble === 'Conflict') {
      const again = await patiently(() => store.get(key), patienceOf(context));
      if (!again.ok) return 'interrupted';
      if (again.value?.metadata.uid !== begun.metadata.uid) return 'gone';
      // Whoever moved it on has run this step too; what they wrote counts.
      if (!isAtSameStep(begun, again.value)) return 'changed';
      current = again.value;
    } else return 'interrupted';
  }
}

/** A step that failed because it was cut short says nothing of its path: the whole ends with it. */
function cutShort(
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

/** The end of a Diagnosis for which there is no more room. */
export function bareFailure(
  { spec, status }: StoredObject,
  now: Date,
  words = 'there is no room for its status beside its spec; give it a smaller spec',
): DiagnosisStatus {
  const { startTime, checkpoint } = (status ?? {}) as DiagnosisStatus;
  const bare = { ...(startTime ? { startTime } : {}), ...(checkpoint ? { checkpoint } : {}) };
  return withResult(spec, failedFor(bare, 'SyncDiagnosisFailed', now, words));
}

async function afterResult(
  { metadata: { uid }, spec, status: before = {} }: StoredObject,
  result: OperationResult,
  paths: readonly GraphPath[],
  { largeResults, now = () => new Date() }: DriverContext,
): Promise<DiagnosisStatus> {
  const status = withoutPlan(before, spec as DiagnosisSpec, now());
  const bounded = boundedResults(uid, status, result.results ?? {});
  const fail = (why: string) =>
    afterStep(withRecord(status, result.record), paths, { succeeded: false, message: why }, now());
  if ('trouble' in bounded) return fail(bounded.trouble);
  for (const { file, text } of bounded.files) {
    const stored = await largeResults.keep(uid, file, text);
    if (!stored.ok) return fail(`what it found cannot be kept: ${stored.why}`);
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
