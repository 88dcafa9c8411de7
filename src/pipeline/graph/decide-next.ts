import type { DiagnosisSpec, DiagnosisStatus } from '../api/diagnosis.ts';
import { hasEnded } from '../api/has-ended.ts';
import { namedPod, type PodReference, type SeenPod } from '../api/named-pod.ts';
import type { GraphNode } from '../api/operation-set.ts';
import { afterStep, atStep } from './after-step.ts';
import { failedFor, settled, timeText, withReason } from './conditions.ts';
import { leftOutOn, refusedTargets } from './left-out.ts';
import { ARRIVAL_MS } from './limits.ts';
import type { GraphPath } from './paths.ts';

/** The OperationSet as it is now. The hash is computed from its spec; its label may be wrong. */
export type SeenSet =
  | { readonly state: 'missing' }
  | { readonly state: 'not-ready'; readonly why: string }
  | { readonly state: 'ready'; readonly hash: string; readonly paths: readonly GraphPath[] };

/** Everything that the next step depends on. */
export interface SeenDiagnosis {
  readonly spec: DiagnosisSpec;
  readonly status: DiagnosisStatus;
  /** The label of the Diagnosis. It is informative: another writer may remove it. */
  readonly hash: string | undefined;
  /** The target node; absent while it is unknown. */
  readonly nodeName: string | undefined;
  readonly set: SeenSet;
  /** Whether its pod exists, once that was checked. */
  readonly pod?: SeenPod | undefined;
  /** Why an Operation cannot be run; undefined if it can. */
  readonly whyMissing: (operation: string) => string | undefined;
  readonly now: Date;
  /** How long a missing object is waited for; 0 where none can arrive. */
  readonly arrivalMs?: number | undefined;
}

export type Decision =
  /** It has ended. */
  | { readonly kind: 'ended' }
  /** Decide again when something changes, or after a while. */
  | { readonly kind: 'wait'; readonly why: string }
  /** Look for this pod, then decide again. */
  | { readonly kind: 'find-pod'; readonly pod: PodReference }
  /** Save this, then decide again. */
  | { readonly kind: 'save'; readonly status: DiagnosisStatus; readonly hash?: string }
  /** Run this step, then save the status of `afterStep`. */
  | { readonly kind: 'run'; readonly node: GraphNode };

/** What to do next with a Diagnosis. Each decision is small and can be repeated. */
export function decideNext(seen: SeenDiagnosis): Decision {
  const decision = decide(seen);
  if (decision.kind !== 'save' || decision.status === seen.status) return decision;
  // A new status replaces the step that waited.
  const { spec, now } = seen;
  return { ...decision, status: settled(decision.status, spec, now) };
}

function decide(seen: SeenDiagnosis): Decision {
  const { startTime = '' } = seen.status;
  const waitedMs = seen.now.getTime() - Date.parse(startTime);
  return decideWithoutNode(seen) ?? decideStep(seen, waitedMs);
}

/** The status after all decisions that need no node, and whether one may go on with it. */
export function statusWithoutNode({
  spec,
  status,
  now,
}: Pick<SeenDiagnosis, 'spec' | 'status' | 'now'>): {
  readonly status: DiagnosisStatus;
  readonly isReady: boolean;
} {
  for (let current = status; ; ) {
    const decision = decideWithoutNode({ spec, status: current, now });
    if (decision?.kind !== 'save') return { status: current, isReady: decision === undefined };
    current = decision.status;
  }
}

/** Its begin, its cancel and its deadline: no node is needed for them. Undefined: it may go on. */
function decideWithoutNode({
  spec,
  status,
  now,
}: Pick<SeenDiagnosis, 'spec' | 'status' | 'now'>): Decision | undefined {
  const { phase = '', startTime } = status;
  if (hasEnded(phase)) return { kind: 'ended' };
  if (spec.cancel) return { kind: 'save', status: failedFor(status, 'DiagnosisCancelled', now) };
  if (phase === '' || startTime === undefined) {
    return { kind: 'save', status: { ...status, phase: 'Pending', startTime: timeText(now) } };
  }
  const waitedMs = now.getTime() - Date.parse(startTime);
  // The clock was set back: count from now on, or a deadline of minutes could take months.
  if (waitedMs < 0) return { kind: 'save', status: { ...status, startTime: timeText(now) } };
  const { deadlineSeconds } = spec;
  if (deadlineSeconds !== undefined && waitedMs >= deadlineSeconds * 1_000) {
    const failed = failedFor(status, 'DeadlineExceeded', now, String(deadlineSeconds));
    return { kind: 'save', status: failed };
  }
  return spec.suspend ? { kind: 'wait', why: 'spec.suspend is true' } : undefined;
}

function decideStep(seen: SeenDiagnosis, waitedMs: number): Decision {
  const { spec, status, hash, nodeName, set, now, arrivalMs = ARRIVAL_MS } = seen;
  // A Diagnosis may be applied together with its OperationSet, in any order.
  const waitOr = (why: string, failed: () => DiagnosisStatus): Decision =>
    waitedMs < arrivalMs ? { kind: 'wait', why } : { kind: 'save', status: failed() };
  if (nodeName === undefined) {
    const why = targetText(spec);
    return waitOr(why, () => failedFor(status, 'TargetNotFound', now, why));
  }
  if (status.phase === 'Pending') return decideStart(seen, nodeName);
  if (set.state === 'missing') {
    const { operationSet: name } = spec;
    const failed = () => failedFor(status, 'OperationSetNotFound', now, name);
    return waitOr(`OperationSet ${name} not found`, failed);
  }
  if (set.state === 'not-ready' || set.paths.length === 0) {
    const why = set.state === 'not-ready' ? set.why : 'its graph has no path';
    const failed = () => failedFor(status, 'OperationSetNotReady', now, why);
    return waitOr(`OperationSet ${spec.operationSet} is not ready: ${why}`, failed);
  }
  const { checkpoint } = status;
  if (!checkpoint) {
    // An earlier label is ignored.
    const begun = atStep(status, set.paths, { pathIndex: 0, nodeIndex: 0 }, now);
    return { kind: 'save', status: { ...begun, adjacencyListHash: set.hash }, hash: set.hash };
  }
  // A Diagnosis that another KubeDiag started has the label only.
  const { adjacencyListHash: begunWith = hash } = status;
  if (begunWith !== set.hash) {
    return { kind: 'save', status: failedFor(status, 'OperationSetChanged', now) };
  }
  if (hash !== set.hash) return { kind: 'save', status, hash: set.hash };
  return decideNode(seen, set.paths, waitedMs < arrivalMs);
}

/** No step runs for a pod that does not exist: "nothing found" would mean nothing. */
function decideStart({ spec, status, pod, now }: SeenDiagnosis, nodeName: string): Decision {
  const named = namedPod(spec);
  if (named && !pod) return { kind: 'find-pod', pod: named };
  if (pod?.state === 'absent') {
    return { kind: 'save', status: failedFor(status, pod.reason, now, pod.why) };
  }
  const leftOut = leftOutOn(nodeName, spec);
  let accepted = withReason(status, 'DiagnosisAccepted', now, nodeName);
  if (leftOut) accepted = withReason(accepted, 'TargetsLeftOut', now, leftOut);
  if (pod?.state === 'unknown') accepted = withReason(accepted, 'PodNotVerified', now, pod.why);
  return { kind: 'save', status: { ...accepted, phase: 'Running' } };
}

function decideNode(
  { status, whyMissing, now }: SeenDiagnosis,
  paths: readonly GraphPath[],
  mayArrive: boolean,
): Decision {
  const { pathIndex = 0, nodeIndex = 0 } = status.checkpoint ?? {};
  const node = paths[pathIndex]?.[nodeIndex];
  if (!node) {
    const text = `checkpoint ${pathIndex}/${nodeIndex}: no such step in the graph`;
    return { kind: 'save', status: failedFor(status, 'SyncDiagnosisFailed', now, text) };
  }
  const { operation = '' } = node;
  const message = whyMissing(operation);
  if (message === undefined) return { kind: 'run', node };
  if (mayArrive) return { kind: 'wait', why: message };
  // Another path may not need it.
  const reported = withReason(status, 'OperationNotFound', now, operation);
  return { kind: 'save', status: afterStep(reported, paths, { succeeded: false, message }, now) };
}

function targetText(spec: DiagnosisSpec): string {
  const { nodeName, podReference, targetSelector } = spec;
  if (nodeName) return `node ${nodeName}: not this node`;
  if (podReference) return `pod ${podReference.namespace}/${podReference.name} not found`;
  const [refused] = refusedTargets(spec);
  if (refused) return `${refused.what}: ${refused.fix}`;
  return targetSelector ? 'no node matches spec.targetSelector' : 'the spec names no node';
}
