import { isDeepStrictEqual } from 'node:util';
import type { DiagnosisSpec, DiagnosisStatus } from '../api/diagnosis.ts';
import type { PodReference, SeenPod } from '../api/named-pod.ts';
import type { GraphNode } from '../api/operation-set.ts';
import type { Processor } from '../api/processor-of.ts';
import { withReason } from '../graph/conditions.ts';
import { decideNext, type SeenSet } from '../graph/decide-next.ts';
import { withResult } from '../graph/result-of.ts';
import type { ApprovalRequest } from '../steps/plan.ts';
import { type CurrentDiagnosis, stepInput } from '../steps/step-input.ts';
import {
  type StepDelay,
  type StepOutcome,
  type StepToRun,
  stopWithin,
} from '../steps/step-to-run.ts';
import type { ObjectKey, StoredObject } from '../store/store.ts';
import { retried } from '../store/store-answer.ts';
import type { StoreError } from '../store/store-error.ts';
import { keyOf } from '../store/stored-object.ts';
import { waitingFor, waitsForApproval, withOtherApproval } from './approval.ts';
import { type Assignment, hashOf, isAssigned } from './assign.ts';
import type { Driven, DriverContext } from './driver-context.ts';
import { JOURNAL_RETRY_MS } from './limits.ts';
import { isUnsettled, withMissingActions, withoutLost } from './missing-actions.ts';
import type { SeenOperation } from './operation-lookup.ts';
import { purposeOf } from './purpose.ts';
import { isUnstorable, storeResult } from './store-result.ts';
import { askAgainAt, restMs } from './time-left.ts';
import { reportBegun, reportRetry, whyInvalid, writeFailure, written } from './write-status.ts';

/**
 * Drives one Diagnosis until it ends or has to wait. The checkpoint is stored before its step runs; the
 * result and the next checkpoint are one write. A change of the spec takes effect before the next step,
 * and no step runs again because of it. `stop` aborts the running step and is a cancel, unless this
 * process shuts down.
 */
export async function driveDiagnosis(
  { uid, ...key }: ObjectKey & { readonly uid: string },
  context: DriverContext,
  stop: AbortSignal,
): Promise<Driven> {
  const drive = new Drive(context, stop);
  for (;;) {
    const found = await retried(() => context.store.get(key), context);
    if (!found.ok) return { state: drive.interrupted(found.error) };
    const object = found.value;
    // Another object may have the same name by now.
    if (object?.metadata.uid !== uid || object.metadata.deletionTimestamp) return { state: 'gone' };
    if (context.targetOf(object.spec as DiagnosisSpec).state === 'elsewhere') {
      return { state: 'elsewhere' };
    }
    const driven = await drive.from(object);
    if (driven !== 'changed') return driven;
  }
}

/** What to save, and what to do then. */
type Next = Assignment & { readonly status: DiagnosisStatus } & (
    | { readonly kind: 'ended' }
    | { readonly kind: 'waits'; readonly why: string; readonly againAt: number }
    | {
        readonly kind: 'run';
        readonly node: GraphNode;
        readonly processor: Processor;
        readonly set: SeenSet & { readonly state: 'ready' };
      }
  );

type NextStep = Next & { readonly kind: 'run' };

/** The graph, and the Operation of the step at the checkpoint. */
interface StepAt {
  readonly set: SeenSet;
  readonly checkpoint?: DiagnosisStatus['checkpoint'];
  readonly operation?: SeenOperation | undefined;
}

class Drive {
  readonly #context: DriverContext;
  readonly #stop: AbortSignal;
  readonly #now: () => Date;

  constructor(context: DriverContext, stop: AbortSignal) {
    this.#context = context;
    this.#stop = stop;
    this.#now = context.now ?? (() => new Date());
  }

  /** Until it ends or waits, or another writer has changed it. */
  async from(object: StoredObject): Promise<Driven | 'changed'> {
    const { shutdown } = this.#context;
    let current = object;
    while (!shutdown.aborted) {
      const next = await this.#next(current);
      if (typeof next === 'string') return { state: next };
      const saved = await this.#save(current, next);
      if (typeof saved === 'string') return saved === 'changed' ? saved : { state: saved };
      current = saved;
      if (next.kind === 'ended') return { state: 'ended', object: current };
      if (next.kind === 'waits') {
        return { state: 'waits', object: current, why: next.why, againAt: next.againAt };
      }
      const onBegun: StepToRun['onBegun'] = async (end) => {
        current = (await reportBegun(current, end, this.#context)) ?? current;
      };
      const outcome = await this.#run(current, next, onBegun);
      const isCut = !('succeeded' in outcome && outcome.succeeded);
      if (shutdown.aborted && isCut) break;
      if ('notNow' in outcome) return this.#waitingForTurn(current, next, outcome);
      if (isCut && (await this.#hasMoreTime(current, next))) return 'changed';
      const stored =
        'planned' in outcome
          ? await this.#save(current, this.#waiting(current, next, outcome))
          : await storeResult(current, outcome, next.set.paths, this.#context, this.#stop);
      if (typeof stored === 'string') return stored === 'changed' ? stored : { state: stored };
      current = stored;
    }
    return { state: 'interrupted' };
  }

  interrupted(error: StoreError): 'interrupted' {
    const { shutdown, onError } = this.#context;
    if (!shutdown.aborted) onError?.(error.message);
    return 'interrupted';
  }

  /** Makes several small decisions, to be saved in one write. */
  async #next(object: StoredObject): Promise<Next | 'interrupted' | 'elsewhere'> {
    const { metadata, status: before = {} } = object;
    const { shutdown, targetOf, arrivalMs, runsHere } = this.#context;
    const given = object.spec as DiagnosisSpec;
    const target = targetOf(given);
    const nodeName = target.state === 'here' ? target.nodeName : undefined;
    // The node of a pod becomes part of the spec.
    const isNamed = given.nodeName || given.targetSelector || nodeName === undefined;
    const spec = isNamed ? given : { ...given, nodeName };
    const asked = this.#stop.aborted && !shutdown.aborted ? { ...spec, cancel: true } : spec;
    let status: DiagnosisStatus = { ...before };
    let hash = hashOf(object);
    let pod: SeenPod | undefined;
    let last: StepAt | undefined;
    for (;;) {
      const step = await retried(() => this.#stepAt(spec, status, last), this.#context);
      if (!step.ok) return this.interrupted(step.error);
      last = step.value;
      const { set, operation } = last;
      const isHere = !runsHere || (operation?.state === 'ready' && runsHere(operation.processor));
      if (!isHere) return 'elsewhere';
      const now = this.#now();
      const whyMissing = () => (operation?.state === 'missing' ? operation.why : undefined);
      const seen = { spec: asked, status, hash, nodeName, set, pod, whyMissing, now, arrivalMs };
      const decision = decideNext(seen);
      if (decision.kind === 'save') {
        status = decision.status;
        hash = decision.hash ?? hash;
        continue;
      }
      if (decision.kind === 'find-pod') {
        pod = await this.#seenPod(decision.pod, restMs(spec, status, now));
        if (shutdown.aborted) return 'interrupted';
        continue;
      }
      const hasEnded = decision.kind === 'ended';
      // A Diagnosis that had ended before stays as it is.
      const isNew = !hasEnded || status.phase !== (before as DiagnosisStatus).phase;
      if (isNew) status = { ...status, observedGeneration: metadata.generation };
      if (hasEnded) return this.#ended(object, { spec, status, hash }, set, isNew);
      const approval = waitsForApproval(spec, status);
      if (decision.kind !== 'wait' && approval) status = withOtherApproval(spec, status, now);
      const why = decision.kind === 'wait' ? decision.why : approval;
      if (why !== undefined) {
        const againAt = askAgainAt(spec, status, now, arrivalMs);
        return { kind: 'waits', why, againAt, spec, status, hash };
      }
      if (decision.kind !== 'run' || operation?.state !== 'ready' || set.state !== 'ready') {
        throw new Error('the next step has no processor');
      }
      const { processor } = operation;
      return { kind: 'run', node: decision.node, processor, set, spec, status, hash };
    }
  }

  /** Lists what an interrupted step, or one whose agent was lost, had done to the node. */
  async #ended(
    object: StoredObject,
    ending: Assignment & Pick<Next, 'status'>,
    set: SeenSet,
    isNew: boolean,
  ): Promise<Next> {
    if (!isNew && !isUnsettled(object)) return { kind: 'ended', ...ending };
    const now = this.#now();
    const listed = await withMissingActions(ending.status, object.metadata, set, this.#context);
    if (!listed.isKnown && !isNew) {
      const againAt = now.getTime() + JOURNAL_RETRY_MS;
      return { kind: 'waits', why: 'the journal of the node', againAt, ...ending };
    }
    // Only the process with the journal of the node can say that the agent is back.
    const isAgent = this.#context.earlierActionsFor !== undefined;
    const nodeName = ending.spec.nodeName ?? '';
    const status = isAgent ? withoutLost(listed.status, nodeName, now) : listed.status;
    return { kind: 'ended', ...ending, status };
  }

  async #seenPod(pod: PodReference, leftMs: number): Promise<SeenPod> {
    const { findPod } = this.#context;
    if (!findPod) return { state: 'found' };
    const ending = stopWithin(leftMs, this.#stop);
    try {
      return await findPod(pod, leftMs, ending);
    } catch (error) {
      // Stopped in the queue; the next decision says by what.
      if (ending.aborted) return { state: 'unknown', why: 'stopped before the pod was looked for' };
      throw error;
    }
  }

  /** The same for all decisions that are saved in one write: each read may be a request. */
  async #stepAt(
    { operationSet }: DiagnosisSpec,
    { checkpoint, adjacencyListHash }: DiagnosisStatus,
    last: StepAt | undefined,
  ): Promise<StepAt> {
    const { lookup } = this.#context;
    const set = last?.set ?? (await lookup.set(operationSet, adjacencyListHash));
    if (set.state !== 'ready' || !checkpoint) return { set };
    if (last?.checkpoint === checkpoint) return last;
    const { operation } = set.paths[checkpoint.pathIndex]?.[checkpoint.nodeIndex] ?? {};
    return {
      set,
      checkpoint,
      operation: operation ? await lookup.operation(operation) : undefined,
    };
  }

  /** The object after the writes, or why the Diagnosis must be read and decided again. */
  async #save(
    object: StoredObject,
    { status: decided, ...assignment }: Assignment & Pick<Next, 'status'>,
  ): Promise<StoredObject | 'changed' | 'gone' | 'interrupted'> {
    const { store, assign } = this.#context;
    const status = withResult(assignment.spec, decided);
    const writes: ((current: StoredObject) => Promise<StoredObject>)[] = [];
    if (assign && !isAssigned(object, assignment)) {
      writes.push((current) => assign(current, assignment));
    }
    if (!isDeepStrictEqual(status, object.status ?? {})) {
      writes.push((current) => store.updateStatus({ ...current, status }));
    }
    let current = object;
    for (const write of writes) {
      const last = current;
      const answer = await written(() => write(last), this.#context);
      if (answer.ok) {
        current = answer.value;
        continue;
      }
      const { reason } = answer.error;
      if (reason === 'Conflict') return 'changed';
      if (reason === 'NotFound') return 'gone';
      if (!isUnstorable(answer.error)) return this.interrupted(answer.error);
      // Such as one with a spec of the largest size.
      const failed = await writeFailure(current, this.#context, whyInvalid(answer.error));
      if (failed.ok || failed.error.reason === 'Conflict') return 'changed';
      return this.interrupted(failed.error);
    }
    return current;
  }

  async #run(
    object: StoredObject,
    { node, processor, spec, status }: NextStep,
    onBegun: StepToRun['onBegun'],
  ): Promise<StepOutcome | StepDelay> {
    const { runStep, targetOf } = this.#context;
    const { namespace = '', name, uid, creationTimestamp: createdAt } = object.metadata;
    const target = targetOf(spec);
    const nodeName = target.state === 'here' ? target.nodeName : '';
    const diagnosis: CurrentDiagnosis = {
      ...{ namespace, name, uid, nodeName, createdAt, spec, status },
    };
    const input = stepInput(diagnosis);
    // What the Diagnosis itself says wins over a result of the same name.
    const isResult = (key: string) => input[key] === status.operationResults?.[key];
    const large = status.largeResults?.filter(({ key }) => isResult(key)) ?? [];
    return runStep({
      name: node.operation ?? '',
      processor,
      diagnosis,
      input,
      ...(large.length > 0 ? { largeInput: large.map(({ key, file }) => ({ key, file })) } : {}),
      // A timer may fire a moment early, and the deadline must have passed then.
      restMs: restMs(spec, status, this.#now()) + 1,
      purpose: purposeOf(object.metadata, node),
      stop: this.#stop,
      onRetry: (retry) => void reportRetry(object, retry, this.#context),
      ...(onBegun ? { onBegun } : {}),
    });
  }

  /** It has no place in flight meanwhile. Nothing is written if it waits for the same as before. */
  async #waitingForTurn(
    object: StoredObject,
    next: NextStep,
    { notNow: { reason, name }, againMs }: StepDelay,
  ): Promise<Driven | 'changed'> {
    const now = this.#now();
    const { spec } = next;
    // It is approved, or the step would not wait for its turn.
    const { plan } = next.status;
    const settled = plan
      ? withReason(next.status, 'PlanApproved', now, plan, 'False')
      : next.status;
    const status = withReason(settled, reason, now, name);
    const saved = await this.#save(object, { ...next, status });
    if (typeof saved === 'string') return saved === 'changed' ? saved : { state: saved };
    const limitAt = askAgainAt(spec, status, now, this.#context.arrivalMs);
    const againAt = Math.min(now.getTime() + againMs, limitAt);
    return { state: 'waits', object: saved, why: reason, againAt };
  }

  /** The step had the deadline of its start, which has passed; the Diagnosis has a later one by now. */
  async #hasMoreTime(object: StoredObject, { spec, status }: NextStep): Promise<boolean> {
    const now = this.#now();
    if (restMs(spec, status, now) > 0) return false;
    const { store } = this.#context;
    const found = await retried(() => store.get(keyOf(object)), this.#context);
    if (!found.ok || found.value?.metadata.uid !== object.metadata.uid) return false;
    return restMs(found.value.spec as DiagnosisSpec, status, now) > 0;
  }

  #waiting({ metadata }: StoredObject, next: NextStep, request: ApprovalRequest) {
    const { uid, generation } = metadata;
    const { howToFetch } = this.#context;
    const status = waitingFor(request, next.status, this.#now(), { uid, howToFetch });
    return { ...next, status: { ...status, observedGeneration: generation } };
  }
}
