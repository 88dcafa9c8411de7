import { createHash } from 'node:crypto';
import type { DiagnosisSpec, DiagnosisStatus } from '../api/diagnosis.ts';
import { withCondition, withReason } from '../graph/conditions.ts';

/** One thing that a step wants to change, and how. */
export interface Wanted {
  readonly fault: string;
  /** The id of the finding, made from the pins of the thing itself. */
  readonly finding: string;
  readonly summary: string;
  readonly kinds: readonly string[];
}

type Planned = NonNullable<DiagnosisStatus['plannedActions']>;

/** The same things, to be changed in the same way by the same step, have the same name. */
function planName({ checkpoint }: DiagnosisStatus, wanted: readonly Wanted[]): string {
  const { pathIndex = 0, nodeIndex = 0 } = checkpoint ?? {};
  const things = wanted.map(({ fault, finding, kinds }) => [fault, finding, kinds]);
  const text = JSON.stringify([pathIndex, nodeIndex, things]);
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** The status of a Diagnosis that waits until somebody has seen what it would do. */
export function waitingFor(
  wanted: readonly Wanted[],
  status: DiagnosisStatus,
  now: Date,
): DiagnosisStatus {
  const plan = planName(status, wanted);
  const plannedActions: Planned = wanted.flatMap(({ kinds, ...rest }) =>
    kinds.map((kind) => ({ kind, ...rest, plan })),
  );
  const others = (status.plannedActions ?? []).filter((each) => each.plan === undefined);
  const told = withReason(status, 'ApprovalNeeded', now, plan);
  return { ...told, plan, plannedActions: [...others, ...plannedActions] };
}

/** Why it waits, when nobody has approved of its plan yet. */
export function waitsForApproval(
  { recovery, approvedPlan, dryRun }: DiagnosisSpec,
  { plan }: DiagnosisStatus,
): string | undefined {
  if (plan === undefined || recovery !== 'Approval' || dryRun) return undefined;
  return plan === approvedPlan ? undefined : `plan ${plan} waits to be approved`;
}

/** The findings that may be acted on: those of the plan that was approved, and of no other. */
export function approvedIn(
  { approvedPlan }: DiagnosisSpec,
  { plan, plannedActions = [] }: DiagnosisStatus,
): (wanted: Wanted) => boolean {
  const approved = plannedActions.filter((each) => plan !== undefined && each.plan === plan);
  return ({ fault, finding, kinds }) => {
    if (plan === undefined || plan !== approvedPlan) return false;
    const planned = approved.filter((each) => each.fault === fault && each.finding === finding);
    return JSON.stringify(planned.map(({ kind }) => kind)) === JSON.stringify(kinds);
  };
}

/** Once the step has ended nothing waits any more. */
export function withoutPlan(status: DiagnosisStatus, now: Date): DiagnosisStatus {
  const { plan, ...rest } = status;
  if (plan === undefined) return status;
  const { conditions = [] } = withReason(rest, 'PlanApproved', now, plan);
  const last = conditions.find(({ reason }) => reason === 'PlanApproved');
  if (!last) return rest;
  // What was waited for is over, whichever way it went.
  return { ...rest, conditions: withCondition(conditions, { ...last, status: 'False' }, now) };
}
