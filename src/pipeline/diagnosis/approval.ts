import { createHash } from 'node:crypto';
import type { DiagnosisSpec, DiagnosisStatus } from '../api/diagnosis.ts';
import { withReason } from '../graph/conditions.ts';
import { isPlanWaiting } from '../graph/result-of.ts';
import { actionRecord } from '../operations/action-record.ts';
import type { StepRecord } from '../operations/operation-result.ts';
import { withRecord } from './with-record.ts';

/** One thing that a step wants to change, and how. */
export interface Wanted {
  readonly fault: string;
  /** The short name of the finding. */
  readonly finding: string;
  readonly summary: string;
  /** With all their arguments. */
  readonly actions: readonly Parameters<typeof actionRecord>[0][];
}

/** A step that would change something that nobody has approved of. */
export interface Asking {
  readonly wanted: readonly Wanted[];
  /** What it did all the same, for that was approved before. */
  readonly record?: StepRecord;
}

type Planned = NonNullable<DiagnosisStatus['plannedActions']>;

/** The same things, to be changed in the same way by the same step, have the same name. */
function planName({ checkpoint }: DiagnosisStatus, planned: Planned): string {
  const { pathIndex = 0, nodeIndex = 0 } = checkpoint ?? {};
  const seen = planned.map(({ kind, description, details, digest }) => [
    kind,
    description,
    details,
    digest,
  ]);
  return hashOf([pathIndex, nodeIndex, seen]);
}

/** Of all that is done about one finding: other arguments are another thing. */
function digestOf({ fault, finding, actions }: Wanted): string {
  return hashOf([fault, finding, actions]);
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);
}

/** The status of a Diagnosis that waits until somebody has seen what it would do. */
export function waitingFor(
  { wanted, record }: Asking,
  status: DiagnosisStatus,
  now: Date,
): DiagnosisStatus {
  const planned: Planned = wanted.flatMap((each) => {
    const { actions, summary } = each;
    const digest = digestOf(each);
    return actions.map((action) => ({ ...actionRecord(action, each), summary, digest }));
  });
  const plan = planName(status, planned);
  const others = (status.plannedActions ?? []).filter((each) => each.plan === undefined);
  const reported = withReason(withRecord(status, record), 'ApprovalNeeded', now, plan);
  const plannedActions = [...others, ...planned.map((each) => ({ ...each, plan }))];
  return { ...reported, plan, plannedActions };
}

/** Why it waits, when nobody has approved of its plan yet. */
export function waitsForApproval(spec: DiagnosisSpec, status: DiagnosisStatus): string | undefined {
  return isPlanWaiting(spec, status) ? `plan ${status.plan} waits to be approved` : undefined;
}

/** Whether a step that repairs may act by now, or only tell what it would do. */
export function mayAct(
  { dryRun, recovery, approvedPlan }: DiagnosisSpec,
  { plan }: DiagnosisStatus,
): boolean {
  if (dryRun || recovery === 'Never') return false;
  return recovery !== 'Approval' || (plan !== undefined && plan === approvedPlan);
}

/** What may be done: that of the plan that was approved, down to the last argument, and nothing else. */
export function approvedIn(
  { approvedPlan }: DiagnosisSpec,
  status: DiagnosisStatus,
): (wanted: Wanted) => boolean {
  const { plan, plannedActions = [] } = status;
  const planned = plannedActions.filter((each) => plan !== undefined && each.plan === plan);
  // A status that was changed since it was approved has another name.
  const isApproved = plan === approvedPlan && planName(status, planned) === plan;
  const approved = new Set(isApproved ? planned.map(({ digest }) => digest) : []);
  return (wanted) => approved.has(digestOf(wanted));
}
