import { isDeepStrictEqual } from 'node:util';
import type { DiagnosisSpec, DiagnosisStatus } from '../api/diagnosis.ts';
import type { PodReference, SeenPod } from '../api/named-pod.ts';
import type { GraphNode } from '../api/operation-set.ts';
import type { Processor } from '../api/processor-of.ts';
import { decideNext, type SeenSet } from '../graph/decide-next.ts';
import { withResult } from '../graph/result-of.ts';
import { type CurrentDiagnosis, stepInput } from '../operations/step-input.ts';
import type { ObjectKey, StoredObject, StoreError } from '../store/store.ts';
import { patiently } from '../store/store-answer.ts';
import { type Asking, waitingFor, waitsForApproval } from './approval.ts';
import { type DriverContext, patienceOf } from './driver-environment.ts';
import { completeResults } from './large-results.ts';
import { withMissingActions } from './missing-actions.ts';
import { purposeOf } from './purpose.ts';
import { reportRetry } from './report-retry.ts';
import { type StepOutcome, stopWithin, unbroken } from './run-step.ts';
import { bareFailure, storeResult } from './store-result.ts';
import { askAgainAt, restMs } from './time-left.ts';

export type Driven =
  /** It was deleted. */
  | { readonly state: 'gone' }
  | { readonly state: 'ended'; readonly object: StoredObject }
  /** Ask again when something changes, or at this time. */
  | {
      readonly state: 'waits';
      readonly object: StoredObject;
      readonly why: string;
      readonly againAt: number;
    }
  /** The process ends, or the store does; the next start goes on from the checkpoint. */
  | { readonly state: 'interrupted' };

/**
 * Drives one Diagnosis until it ends or has to wait. What is about to be done is on disk before it is
 * done, and the result of a step and the next checkpoint are one write. Whoever changes the spec
 * meanwhile is heeded before the next step; no step is run again because of that. `stop` ends the step
 * that is run and is a cancel, unless this process is about to end.
 */
export async function driveDiagnosis(
  { uid, ...key }: ObjectKey & { readonly uid: string },
  context: DriverContext,
  stop: AbortSignal,
): Promise<Driven> {
  for (;;) {
    const found = await patiently(() => context.store.get(key), patienceOf(context));
    if (!found.ok) return { state: interrupted(found.error, context) };
    // Another one of the same name is not ours to drive.
    if (found.value?.metadata.uid !== uid) return { state: 'gone' };
    const driven = await driveFrom(found.value, context, stop);
    if (driven !== 'changed') return driven;
  }
}

async function driveFrom(
  object: StoredObject,
  context: DriverContext,
  stop: AbortSignal,
): Promise<Driven | 'changed'> {
  let current = object;
  while (!context.shutdown.aborted) {
    const next = await nextOf(current, context, stop);
    if (next === 'interrupted') return { state: next };
    const saved = await save(current, next, context);
    if (typeof saved === 'string') return saved === 'changed' ? saved : { state: saved };
    current = saved;
    if (next.kind === 'ended') return { state: 'ended', object: current };
    if (next.kind === 'waits') {
      return { state: 'waits', object: current, why: next.why, againAt: next.againAt };
    }
    const outcome = await outcomeOf(current, next, context, stop);
    const isCut = !('succeeded' in outcome && outcome.succeeded);
    if (context.shutdown.aborted && isCut) break;
    const stored =
      'wanted' in outcome
        ? await save(current, planned(current, next, outcome, context), context)
        : await storeResult(current, outcome, next.set.paths, context, stop);
    if (typeof stored === 'string') return stored === 'changed' ? stored : { state: stored };
    current = stored;
  }
  return { state: 'interrupted' };
}

type ReadySet = SeenSet & { readonly state: 'ready' };

/** What is to be saved before, and what comes then. */
type Next = {
  readonly spec: DiagnosisSpec;
  readonly status: DiagnosisStatus;
  readonly hash: string | undefined;
} & (
  | { readonly kind: 'ended' }
  | { readonly kind: 'waits'; readonly why: string; readonly againAt: number }
  | {
      readonly kind: 'run';
      readonly node: GraphNode;
      readonly processor: Processor;
      readonly set: ReadySet;
    }
);

const HASH_LABEL = 'adjacency-list-hash';

/** Several small decisions become one write. */
async function nextOf(
  { spec: stored, status: before = {}, metadata }: StoredObject,
  context: DriverContext,
  stop: AbortSignal,
): Promise<Next | 'interrupted'> {
  const { targetOf, now = () => new Date(), arrivalMs } = context;
  const given = stored as DiagnosisSpec;
  const nodeName = targetOf(given);
  // The node of a pod is written down once it is known.
  const isNamed = given.nodeName || given.targetSelector || nodeName === undefined;
  const spec = isNamed ? given : { ...given, nodeName };
  const asked = stop.aborted && !context.shutdown.aborted ? { ...spec, cancel: true } : spec;
  let status: DiagnosisStatus = { ...before };
  let hash = metadata.labels?.[HASH_LABEL];
  let pod: SeenPod | undefined;
  for (;;) {
    const ask = stepAt.bind(undefined, context, spec, status);
    const step = await patiently(ask, patienceOf(context));
    if (!step.ok) return interrupted(step.error, context);
    const { set, processor } = step.value;
    const decided = now();
    const decision = decideNext({
      spec: asked,
      status,
      hash,
      nodeName,
      set,
      pod,
      hasOperation: () => processor !== undefined,
      now: decided,
      arrivalMs,
    });
    if (decision.kind === 'save') {
      status = decision.status;
      hash = decision.hash ?? hash;
      continue;
    }
    if (decision.kind === 'find-pod') {
      pod = await seenPod(decision.pod, restMs(spec, status, decided), context, stop);
      if (context.shutdown.aborted) return 'interrupted';
      continue;
    }
    const isOver = decision.kind === 'ended';
    // What had ended before is left as it was.
    const isNews = !isOver || status.phase !== (before as DiagnosisStatus).phase;
    if (isNews) status = { ...status, observedGeneration: metadata.generation };
    if (isOver && isNews) status = await withMissingActions(status, metadata, set, context);
    if (isOver) return { kind: 'ended', spec, status, hash };
    const why = decision.kind === 'wait' ? decision.why : waitsForApproval(spec, status);
    if (why !== undefined) {
      const againAt = askAgainAt(spec, status, decided, arrivalMs);
      return { kind: 'waits', why, againAt, spec, status, hash };
    }
    if (decision.kind !== 'run' || !processor || set.state !== 'ready') {
      throw new Error('a step was decided that nobody has');
    }
    return { kind: 'run', node: decision.node, processor, set, spec, status, hash };
  }
}

async function seenPod(
  pod: PodReference,
  leftMs: number,
  { findPod }: DriverContext,
  stop: AbortSignal,
): Promise<SeenPod> {
  if (!findPod) return { state: 'found' };
  const ending = stopWithin(leftMs, stop);
  try {
    return await findPod(pod, leftMs, ending);
  } catch (error) {
    if (!ending.aborted) throw error;
    // It was stopped while it waited for its turn; what stopped it is decided next.
    return { state: 'unknown', why: 'it was stopped before the pod was looked for' };
  }
}

/** The graph, and who runs the step that the checkpoint names in it. */
async function stepAt(
  { catalogue }: DriverContext,
  { operationSet }: DiagnosisSpec,
  { checkpoint }: DiagnosisStatus,
): Promise<{ readonly set: SeenSet; readonly processor: Processor | undefined }> {
  const set = await catalogue.set(operationSet);
  if (set.state !== 'ready' || !checkpoint) return { set, processor: undefined };
  const { operation } = set.paths[checkpoint.pathIndex]?.[checkpoint.nodeIndex] ?? {};
  return { set, processor: operation ? await catalogue.operation(operation) : undefined };
}

/** A store that cannot be waited for is told of, unless it is us who end. */
function interrupted(error: StoreError, { shutdown, onError }: DriverContext): 'interrupted' {
  if (!shutdown.aborted) onError?.(error.message);
  return 'interrupted';
}

/** The object as it is on disk then; or somebody else has changed it, and all is to be decided anew. */
async function save(
  object: StoredObject,
  { spec, status: decided, hash }: Pick<Next, 'spec' | 'status' | 'hash'>,
  context: DriverContext,
): Promise<StoredObject | 'changed' | 'gone' | 'interrupted'> {
  const status = withResult(spec, decided);
  const { labels } = object.metadata;
  const writes: ((current: StoredObject) => Promise<StoredObject>)[] = [];
  if (hash !== labels?.[HASH_LABEL] || spec !== object.spec) {
    const hashed = hash === undefined ? labels : { ...labels, [HASH_LABEL]: hash };
    writes.push((current) => {
      const metadata = { ...current.metadata, ...(hashed ? { labels: hashed } : {}) };
      return context.store.update({ ...current, metadata, spec });
    });
  }
  if (!isDeepStrictEqual(status, object.status ?? {})) {
    writes.push((current) => context.store.updateStatus({ ...current, status }));
  }
  let current = object;
  for (const write of writes) {
    const last = current;
    const answer = await patiently(() => write(last), patienceOf(context));
    if (answer.ok) {
      current = answer.value;
      context.onSaved?.(current);
      continue;
    }
    const { trouble } = answer.error;
    if (trouble === 'Conflict') return 'changed';
    if (trouble === 'NotFound') return 'gone';
    if (trouble === 'TooLarge') return saveBare(current, context);
    return interrupted(answer.error, context);
  }
  return current;
}

/** With a spec that fills the whole object, there is room for the end at most. */
async function saveBare(
  object: StoredObject,
  context: DriverContext,
): Promise<'changed' | 'interrupted'> {
  const { store, now = () => new Date() } = context;
  const bare = { ...object, status: bareFailure(object, now()) };
  const answer = await patiently(() => store.updateStatus(bare), patienceOf(context));
  if (answer.ok || answer.error.trouble === 'Conflict') return 'changed';
  return interrupted(answer.error, context);
}

async function outcomeOf(
  object: StoredObject,
  { node, processor, spec, status }: Next & { readonly kind: 'run' },
  context: DriverContext,
  stop: AbortSignal,
): Promise<StepOutcome> {
  const { runStep, largeResults, targetOf, now = () => new Date(), holdLarge } = context;
  const { namespace = '', name, uid } = object.metadata;
  const nodeName = targetOf(spec) ?? '';
  const diagnosis: CurrentDiagnosis = { namespace, name, uid, nodeName, spec, status };
  // Timers may be a moment early, and what they end must be late.
  const leftMs = () => restMs(spec, status, now()) + 1;
  const run = async (): Promise<StepOutcome> => {
    const whole = await completeResults(uid, status, largeResults);
    if (!whole.ok) return { succeeded: false, message: whole.why };
    return runStep({
      name: node.operation ?? '',
      processor,
      diagnosis,
      input: stepInput({ ...diagnosis, status: { ...status, operationResults: whole.value } }),
      restMs: leftMs(),
      purpose: purposeOf(object.metadata, node),
      stop,
      onRetry: (retry) => void reportRetry(object, retry, context),
    });
  };
  if (!status.largeResults || !holdLarge) return run();
  const ending = stopWithin(leftMs(), stop);
  return unbroken(holdLarge.take(run, ending), ending);
}

function planned(
  { metadata: { generation } }: StoredObject,
  next: Next & { readonly kind: 'run' },
  asking: Asking,
  { now = () => new Date() }: DriverContext,
): Next {
  const status = waitingFor(asking, next.status, now());
  return { ...next, status: { ...status, observedGeneration: generation } };
}
