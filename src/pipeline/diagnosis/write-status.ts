import { cutSentence } from '../../lib/std/cut-sentence.ts';
import { defined } from '../../lib/std/defined.ts';
import { messageOf } from '../../lib/std/message-of.ts';
import type { DiagnosisStatus } from '../api/diagnosis.ts';
import { hasEnded } from '../api/has-ended.ts';
import { CONDITION_REASONS } from '../api/reasons.ts';
import { failedFor, isTrue, timeText, withReason } from '../graph/conditions.ts';
import { STEP_MESSAGE_CHARACTERS_MAX } from '../graph/limits.ts';
import { withResult } from '../graph/result-of.ts';
import type { Retry } from '../steps/run-http.ts';
import type { StepWait } from '../steps/step-to-run.ts';
import type { ObjectKey, Store, StoredObject } from '../store/store.ts';
import { answerOf, retried, type StoreAnswer } from '../store/store-answer.ts';
import type { StoreError } from '../store/store-error.ts';
import { keyOf, nameOf } from '../store/stored-object.ts';
import type { Driven, DriverContext } from './driver-context.ts';

/** Repeats a write while the error is temporary. */
export async function written(
  write: () => Promise<StoredObject>,
  context: DriverContext,
): Promise<StoreAnswer<StoredObject>> {
  const answer = await retried(write, context);
  if (answer.ok) context.onSaved?.(answer.value);
  return answer;
}

/** Ends a Diagnosis with the shortest status of a failed one. */
export function writeFailure(
  object: StoredObject,
  context: DriverContext,
  message?: string,
): Promise<StoreAnswer<StoredObject>> {
  const { store, now = () => new Date() } = context;
  const failed = { ...object, status: bareFailure(object, now(), message) };
  return written(() => store.updateStatus(failed), context);
}

/** Such as a server whose CustomResourceDefinitions are older than this agent. */
export function whyInvalid(error: StoreError | undefined): string | undefined {
  if (error?.reason !== 'Invalid') return undefined;
  return cutSentence(`the status was refused: ${error.message}`, STEP_MESSAGE_CHARACTERS_MAX);
}

export function bareFailure(
  { spec, status }: StoredObject,
  now: Date,
  message = 'the object has no space for a status: make the spec smaller',
): DiagnosisStatus {
  const { startTime, checkpoint } = (status ?? {}) as DiagnosisStatus;
  const bare = defined({ startTime, checkpoint });
  return withResult(spec, failedFor(bare, 'SyncDiagnosisFailed', now, message));
}

/** Ends the Diagnosis that a defect of ours was met with: the others go on, and it is not tried again. */
export async function failOnDefect(
  { uid, ...key }: ObjectKey & { readonly uid: string },
  defect: unknown,
  context: DriverContext,
): Promise<Driven> {
  const message = `defect in kubediag, please report it: ${messageOf(defect)}`;
  context.onError?.(`${nameOf(key)}: ${message}`);
  const found = await retried(() => context.store.get(key), context);
  if (!found.ok) return { state: 'interrupted' };
  const object = found.value;
  if (object?.metadata.uid !== uid) return { state: 'gone' };
  if (hasEnded(object.status?.phase)) return { state: 'ended', object };
  const ended = await writeFailure(object, context, message);
  return ended.ok ? { state: 'ended', object: ended.value } : { state: 'interrupted' };
}

/** Changed after its end: a client may wait for its observedGeneration. */
export function isUnobserved(object: StoredObject): boolean {
  const { phase, observedGeneration } = (object.status ?? {}) as DiagnosisStatus;
  return hasEnded(phase) && observedGeneration !== object.metadata.generation;
}

/** After a conflict the next event brings it here again. */
export async function observeEnded(object: StoredObject, store: Store): Promise<void> {
  const { spec, metadata } = object;
  const status = withResult(spec, { ...object.status, observedGeneration: metadata.generation });
  await answerOf(store.updateStatus({ ...object, status }));
}

/**
 * Writes to status.currentStep that a server could not be reached and when the next attempt is. It is
 * for readers only: a write that fails or comes too late is dropped.
 */
export async function reportRetry(
  begun: StoredObject,
  { attempts, why, nextAt }: Retry,
  { store, onSaved }: DriverContext,
): Promise<void> {
  const found = await answerOf(store.get(keyOf(begun)));
  const object = found.ok ? found.value : undefined;
  if (object?.metadata.uid !== begun.metadata.uid || !isAtSameStep(begun, object)) return;
  const { currentStep, ...rest } = (object.status ?? {}) as DiagnosisStatus;
  if (!currentStep) return;
  const attempt = {
    attempts,
    nextAttemptTime: timeText(nextAt),
    message: cutSentence(why, STEP_MESSAGE_CHARACTERS_MAX),
  };
  const status = { ...rest, currentStep: { ...currentStep, ...attempt } };
  const answer = await answerOf(store.updateStatus({ ...object, status }));
  if (answer.ok) onSaved?.(answer.value);
}

/**
 * Writes that a step no longer waits. Undefined if there is nothing to write, or if the write fails: the
 * result of the step ends the condition too.
 */
export async function reportBegun(
  begun: StoredObject,
  { reason, name }: StepWait,
  context: DriverContext,
): Promise<StoredObject | undefined> {
  const { store, onSaved, now = () => new Date() } = context;
  if (!isTrue(begun.status ?? {}, CONDITION_REASONS[reason].type)) return undefined;
  const status = withReason(begun.status ?? {}, reason, now(), name, 'False');
  const answer = await answerOf(store.updateStatus({ ...begun, status }));
  if (!answer.ok) return undefined;
  onSaved?.(answer.value);
  return answer.value;
}

export function isAtSameStep(one: StoredObject, other: StoredObject): boolean {
  const [left, right] = [one, other].map(({ status }) => (status ?? {}) as DiagnosisStatus);
  return (
    left?.phase === right?.phase &&
    left?.checkpoint?.pathIndex === right?.checkpoint?.pathIndex &&
    left?.checkpoint?.nodeIndex === right?.checkpoint?.nodeIndex
  );
}
