import { createHash } from 'node:crypto';
import type { DiagnosisSpec, DiagnosisStatus } from '../api/diagnosis.ts';
import { withReason } from '../graph/conditions.ts';
import { isPlanWaiting } from '../graph/result-of.ts';
import { actionRecord } from '../operations/action-text.ts';
import type { StepRecord } from '../operations/operation-result.ts';
import type { RecoveryRequest } from '../operations/recovery-request.ts';
import { withRecord } from './with-record.ts';

export type Wanted = Omit<RecoveryRequest, 'touches' | 'leaves'>;

/** The repairs of a step that nobody has approved yet. */
export interface ApprovalRequest {
  readonly wanted: readonly Wanted[];
  /** What it did because it was approved before. */
  readonly record?: StepRecord;
}

type Planned = NonNullable<DiagnosisStatus['plannedActions']>;

/** The same actions of the same step give the same name. */
function planName({ checkpoint }: DiagnosisStatus, planned: Planned): string {
  const { pathIndex = 0, nodeIndex = 0 } = checkpoint ?? {};
  const seen = planned.map((each) => [each.kind, each.description, each.details, each.digest]);
  return hashOf([pathIndex, nodeIndex, seen]);
}

/** Covers all actions for a finding with all their arguments. */
function digestOf({ fault, finding, actions }: Wanted): string {
  return hashOf([fault, finding, actions]);
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);
}

/** The status of a Diagnosis that waits for the approval of its plan. */
export function waitingFor(
  { wanted, record }: ApprovalRequest,
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

/** Why it waits, if its plan is not approved yet. */
export function waitsForApproval(spec: DiagnosisSpec, status: DiagnosisStatus): string | undefined {
  return isPlanWaiting(spec, status) ? `plan ${status.plan} waits for approval` : undefined;
}

/** Whether a repair may act now, or only plan. */
export function mayAct(
  { dryRun, recovery, approvedPlan }: DiagnosisSpec,
  { plan }: DiagnosisStatus,
): boolean {
  if (dryRun || recovery === 'Never') return false;
  return recovery !== 'Approval' || (plan !== undefined && plan === approvedPlan);
}

/** Permits the actions of the approved plan, down to the last argument, and nothing else. */
export function approvedIn(
  { approvedPlan }: DiagnosisSpec,
  status: DiagnosisStatus,
): (wanted: Wanted) => boolean {
  const { plan, plannedActions = [] } = status;
  const planned = plannedActions.filter((each) => plan !== undefined && each.plan === plan);
  // A plan that was changed after its approval has another name.
  const isApproved = plan === approvedPlan && planName(status, planned) === plan;
  const approved = new Set(isApproved ? planned.map(({ digest }) => digest) : []);
  return (wanted) => approved.has(digestOf(wanted));
}
