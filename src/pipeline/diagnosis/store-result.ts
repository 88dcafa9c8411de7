import type { DiagnosisSpec, DiagnosisStatus } from '../api/diagnosis.ts';
import { afterStep } from '../graph/after-step.ts';
import { failedFor, settled } from '../graph/conditions.ts';
import type { GraphPath } from '../graph/paths.ts';
import { withResult } from '../graph/result-of.ts';
import { failedWith, type OperationResult } from '../steps/operation-result.ts';
import { OBJECT_BYTES_MAX, STORE_WAIT_FIRST_MS } from '../store/limits.ts';
import { sleepUntilStopped } from '../store/sleep-until-stopped.ts';
import type { StoredObject } from '../store/store.ts';
import { longer, retried } from '../store/store-answer.ts';
import type { StoreError } from '../store/store-error.ts';
import { keyOf } from '../store/stored-object.ts';
import type { DriverContext } from './driver-context.ts';
import { type Large, newAccessKey } from './large-results.ts';
import { RESULTS_COMPLETE_BYTES_MAX, RESULTS_SHOWN_BYTES_MAX } from './limits.ts';
import { restMs } from './time-left.ts';
import { type Surplus, surplusIn } from './with-large-results.ts';
import { bytesOf, withRecord } from './with-record.ts';
import { bareFailure, isAtSameStep, whyInvalid, written } from './write-status.ts';

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
  let refused: StoreError | undefined;
  // Each takes less space than the one before.
  const attempts: readonly ((object: StoredObject) => Promise<DiagnosisStatus>)[] = [
    (object) => afterResult(object, result, paths, context),
    (object) => afterResult(object, failedWith(whyUnstorable(refused)), paths, context),
  ];
  let current = begun;
  let waitMs = STORE_WAIT_FIRST_MS;
  for (let attempt = 0; ; ) {
    const next = attempts[attempt];
    const status = next ? await next(current) : bareFailure(current, now(), whyInvalid(refused));
    const ended = result.succeeded ? status : endedEarly(current, status, now(), stop.aborted);
    const { spec, metadata } = current;
    const observed = withResult(spec, { ...ended, observedGeneration: metadata.generation });
    const object = { ...current, status: observed };
    const answer = await written(() => store.updateStatus(object), context);
    if (answer.ok) return answer.value;
    const { reason, message } = answer.error;
    if (reason === 'NotFound') return 'gone';
    if (isUnstorable(answer.error) && attempt < attempts.length) {
      attempt += 1;
      refused = answer.error;
    } else if (reason === 'Conflict') {
      const again = await retried(() => store.get(key), context);
      if (!again.ok) return 'interrupted';
      if (again.value?.metadata.uid !== begun.metadata.uid) return 'gone';
      // Another writer has run this step too; its result counts.
      if (!isAtSameStep(begun, again.value)) return 'changed';
      current = again.value;
    } else if (reason === 'Damaged') return 'interrupted';
    else {
      // Rights can come back, and a webhook can change its mind: the step must not run again until then.
      context.onError?.(message);
      await sleepUntilStopped(waitMs, context.shutdown);
      if (context.shutdown.aborted) return 'interrupted';
      waitMs = longer(waitMs);
    }
  }
}

/** A smaller or plainer object may still be stored. */
export function isUnstorable({ reason }: StoreError): boolean {
  return reason === 'RequestEntityTooLarge' || reason === 'Invalid';
}

function whyUnstorable(refused: StoreError | undefined): string {
  const tooLarge = `the Diagnosis with its results would exceed ${OBJECT_BYTES_MAX} bytes`;
  return whyInvalid(refused) ?? tooLarge;
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

async function afterResult(
  { metadata: { uid }, spec, status: before = {} }: StoredObject,
  result: OperationResult,
  paths: readonly GraphPath[],
  { largeResults, howToFetch, now = () => new Date() }: DriverContext,
): Promise<DiagnosisStatus> {
  const status = settled(before, spec as DiagnosisSpec, now());
  const bounded = boundedResults(uid, status, result, howToFetch);
  const recorded = (earlier: DiagnosisStatus) =>
    withRecord(earlier, result.record, { uid, howToFetch });
  const fail = (message: string) =>
    afterStep(recorded(status), paths, { succeeded: false, message }, now());
  if ('error' in bounded) return fail(bounded.error);
  for (const { file, text } of bounded.files) {
    const stored = await largeResults.store(uid, file, text);
    if (!stored.ok) return fail(`its results cannot be stored: ${stored.why}`);
  }
  const { operationResults, largeResults: large } = bounded.shown;
  const { largeResults: _, ...rest } = status;
  const shown = { ...rest, ...(large.length > 0 ? { largeResults: large } : {}) };
  const { record: _record, largeResults: inFiles, ...plain } = result;
  const hasResults = result.results !== undefined || inFiles !== undefined;
  const ended = hasResults ? { ...plain, results: operationResults } : plain;
  return afterStep(recorded(shown), paths, ended, now());
}

type Shown = Pick<DiagnosisStatus, 'operationResults' | 'largeResults'>;

type BoundedResults =
  | {
      /** For the status, once the files are stored. */
      readonly shown: Required<Shown>;
      readonly files: readonly Surplus[];
    }
  | { readonly error: string };

/**
 * Splits the earlier and the new results into those in the status and those in files. Values that are
 * large by themselves are in files already; of many small ones the largest become files too. The status
 * has a sentence instead of each.
 */
function boundedResults(
  uid: string,
  before: Shown,
  { results: small = {}, largeResults: large = [] }: OperationResult,
  howToFetch: DriverContext['howToFetch'],
): BoundedResults {
  const isNew = new Set([...Object.keys(small), ...large.map(({ key }) => key)]);
  const earlier = (before.largeResults ?? []).filter(({ key }) => !isNew.has(key));
  const shown: Record<string, string> = { ...before.operationResults, ...small };
  const show = ({ sha256, ...entry }: Surplus | (typeof large)[number]): Large => {
    const { key, bytes, file } = entry;
    const listed: Large = {
      ...{ key, bytes, file },
      ...(howToFetch ? { sha256, accessKey: newAccessKey() } : {}),
    };
    const place = howToFetch?.(uid, listed) ?? `the agent serves it at /results/${uid}/${file}`;
    shown[key] = `(${bytes} bytes: too large for a status, stored separately; ${place})`;
    return listed;
  };
  const listed = [...earlier, ...large.map(show)];
  const isSentence = new Set(listed.map(({ key }) => key));
  const [sentences, texts] = partition(shown, (key) => isSentence.has(key));
  const files = surplusIn(texts, sizeOf(sentences));
  const largeResults = [...listed, ...files.map(show)];
  const total = sizeOf(shown);
  if (total > RESULTS_SHOWN_BYTES_MAX) {
    return { error: 'too many results: their keys alone do not fit into the status' };
  }
  if (largeResults.reduce((sum, { bytes }) => sum + bytes, total) > RESULTS_COMPLETE_BYTES_MAX) {
    const limit = `results of more than ${RESULTS_COMPLETE_BYTES_MAX} bytes, which is the limit`;
    return { error: limit };
  }
  return { shown: { operationResults: shown, largeResults }, files };
}

type Results = Readonly<Record<string, string>>;

function partition(
  results: Results,
  isFirst: (key: string) => boolean,
): readonly [Results, Results] {
  const pairs = Object.entries(results);
  return [
    Object.fromEntries(pairs.filter(([key]) => isFirst(key))),
    Object.fromEntries(pairs.filter(([key]) => !isFirst(key))),
  ];
}

function sizeOf(results: Results): number {
  return Object.entries(results).reduce((sum, pair) => sum + bytesOf(pair), 0);
}
