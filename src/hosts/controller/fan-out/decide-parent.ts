import type { DiagnosisSpec, DiagnosisStatus } from '../../../pipeline/api/diagnosis.ts';
import { hasEnded } from '../../../pipeline/api/has-ended.ts';
import { failedFor, timeText, withReason } from '../../../pipeline/graph/conditions.ts';
import { ARRIVAL_MS } from '../../../pipeline/graph/limits.ts';
import { nodeOutcome } from '../../../pipeline/graph/result-of-nodes.ts';
import type { DiagnosisDigest } from '../digests.ts';
import { childPatch, deadlineOf } from './child-diagnosis.ts';
import { endedParent, type FailedNode, type NodeState, withNodes } from './parent-status.ts';

/** A selected node and its Diagnosis, as far as this controller knows. */
export interface SeenNode {
  readonly name: string;
  /** Name of its Diagnosis. */
  readonly childName: string;
  readonly child?: DiagnosisDigest | undefined;
  /** It exists, or must not be created any more. */
  readonly isCreated: boolean;
  /** Why there is no Diagnosis of ours. */
  readonly failure?: string | undefined;
}

/** What spec.targetSelector selects now. */
export interface Selected {
  readonly nodeNames: readonly string[];
  /** Names that are no nodes, with the reason. */
  readonly missing: readonly FailedNode[];
  /** Why nothing can be selected. */
  readonly problem?: string | undefined;
  readonly isTooMany?: boolean;
}

interface SeenParent {
  readonly spec: DiagnosisSpec;
  readonly status: DiagnosisStatus;
  readonly nodes: readonly SeenNode[];
  readonly now: Date;
}

export interface ChildChange {
  readonly child: DiagnosisDigest;
  /** A merge patch of its spec. */
  readonly spec: Readonly<Record<string, unknown>>;
}

export type ParentDecision =
  /** Select the nodes, then decide with `decideSelected`. */
  | { readonly kind: 'select' }
  /** Save the status, create and change the children, and decide again after the time. */
  | {
      readonly kind: 'go-on';
      readonly status: DiagnosisStatus;
      /** Nodes that have no Diagnosis yet, in their order. */
      readonly create: readonly string[];
      readonly change: readonly ChildChange[];
      readonly againMs: number | undefined;
    };

/** What to do next with a Diagnosis of several nodes. Each decision can be repeated. */
export function decideParent(seen: SeenParent): ParentDecision {
  const { spec, status, nodes, now } = seen;
  const { phase = '', startTime } = status;
  if (hasEnded(phase)) {
    // Its deadline has passed, or an earlier controller had no time for it.
    return goOn(status, { change: changesOf(seen, { isStopping: true }) });
  }
  const deadlineMs = deadlineOf(spec, status);
  const isLate = deadlineMs !== undefined && now.getTime() >= deadlineMs;
  if (status.nodes === undefined) {
    if (spec.cancel) {
      return goOn({ ...failedFor(status, 'DiagnosisCancelled', now), result: 'Cancelled' });
    }
    // The clock was set back: count from now on.
    if (startTime === undefined || Date.parse(startTime) > now.getTime()) {
      return goOn({ ...status, phase: 'Pending', startTime: timeText(now) }, { againMs: 0 });
    }
    if (isLate) return goOn(late(seen));
    const againMs = deadlineMs === undefined ? undefined : deadlineMs - now.getTime();
    return spec.suspend ? goOn(status, { againMs }) : { kind: 'select' };
  }
  const states = nodes.map((node) => stateOf(node, spec));
  const counted = withNodes(status, states);
  if (states.every(({ state }) => state === 'succeeded' || state === 'failed')) {
    return goOn(endedParent(counted, spec, now));
  }
  const isStopping = spec.cancel === true || isLate;
  const change = changesOf(seen, { isStopping });
  if (isLate) return goOn(late({ ...seen, status: counted }), { change });
  const mayCreate = !isStopping && spec.suspend !== true;
  return goOn(counted, {
    create: mayCreate ? nodes.filter((each) => !each.isCreated).map(({ name }) => name) : [],
    change,
    againMs: deadlineMs === undefined ? undefined : deadlineMs - now.getTime(),
  });
}

/** The status after the nodes were selected; undefined if it has to wait until there are some. */
export function decideSelected(
  {
    status,
    now,
    arrivalMs = ARRIVAL_MS,
  }: Pick<SeenParent, 'status' | 'now'> & { readonly arrivalMs?: number | undefined },
  selected: Selected,
): DiagnosisStatus | undefined {
  const { nodeNames, missing, problem, isTooMany } = selected;
  if (problem !== undefined) {
    const reason = isTooMany ? 'TooManyNodes' : 'NoNodeSelected';
    return { ...failedFor(status, reason, now, problem), result: 'Error' };
  }
  const total = nodeNames.length + missing.length;
  const nodes = { total, waiting: 0, running: 0, succeeded: 0, failed: 0 };
  const listed = { ...status, nodes, nodeNames: [...nodeNames], failedNodes: [...missing] };
  if (nodeNames.length === 0) {
    const waitedMs = now.getTime() - Date.parse(status.startTime ?? '');
    if (waitedMs < arrivalMs) return undefined;
    const why = missing[0]?.message ?? 'no node or pod of the cluster matches';
    const more = missing.length > 1 ? `, and ${missing.length - 1} more` : '';
    const failed = failedFor(withNodes(listed, []), 'NoNodeSelected', now, `${why}${more}`);
    return { ...failed, result: 'Error' };
  }
  const waiting = nodeNames.map((name) => ({
    name,
    state: 'waiting' as const,
    isCreated: false,
  }));
  const [subject, each] =
    nodeNames.length === 1 ? ['1 node is', 'with'] : [`${nodeNames.length} nodes are`, 'each with'];
  const match = missing.length === 1 ? 'matches' : 'match';
  const absent =
    missing.length === 0 ? '' : `; ${missing.length} of ${total} names ${match} no node`;
  const what = `${subject} selected, ${each} a Diagnosis of its own${absent}`;
  return {
    ...withReason(withNodes(listed, waiting), 'NodesSelected', now, what),
    phase: 'Running',
  };
}

function stateOf({ name, childName, child, isCreated, failure }: SeenNode, spec: DiagnosisSpec) {
  const failed = (why: string, result: 'Error' | 'Cancelled'): NodeState => {
    return { name, state: 'failed', result, isCreated, why };
  };
  if (failure !== undefined) return failed(failure, 'Error');
  if (child?.isDeleted) return failed(deletedText(childName), 'Error');
  const known: Pick<NodeState, 'name' | 'isCreated'> = { name, isCreated };
  if (child) {
    return { ...known, ...nodeOutcome(child), diagnosis: childName, why: child.failure };
  }
  if (!isCreated && spec.cancel) {
    return failed('cancelled before its Diagnosis was created', 'Cancelled');
  }
  return { ...known, state: 'waiting' } satisfies NodeState;
}

export function deletedText(name: string): string {
  return `Diagnosis ${name} was deleted before it ended`;
}

function changesOf(
  { spec, status, nodes }: SeenParent,
  { isStopping }: { readonly isStopping: boolean },
): readonly ChildChange[] {
  const deadlineMs = deadlineOf(spec, status);
  return nodes.flatMap(({ child }) => {
    const patch = child && childPatch(child, spec, { isStopping, deadlineMs });
    return child && patch ? [{ child, spec: patch }] : [];
  });
}

function late({ spec, status, now }: Pick<SeenParent, 'spec' | 'status' | 'now'>): DiagnosisStatus {
  const seconds = String(spec.deadlineSeconds);
  return { ...failedFor(status, 'DeadlineExceeded', now, seconds), result: 'Error' };
}

function goOn(
  status: DiagnosisStatus,
  rest: Partial<Omit<Extract<ParentDecision, { readonly kind: 'go-on' }>, 'kind' | 'status'>> = {},
): ParentDecision {
  return { kind: 'go-on', status, create: [], change: [], againMs: undefined, ...rest };
}
