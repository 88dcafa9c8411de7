import { createHash } from 'node:crypto';
import type { DiagnosisSpec, DiagnosisStatus } from '../api/diagnosis.ts';
import { actionRecord } from './action-text.ts';
import type { StepRecord } from './operation-result.ts';
import type { RecoveryRequest } from './recovery-request.ts';

export type Wanted = Omit<RecoveryRequest, 'touches' | 'leaves'>;

/** The actions of a step that nobody has approved yet. */
export interface ApprovalRequest {
  /** As the status lists them while they wait: each with the digest of all its arguments. */
  readonly planned: Planned;
  /** What it did because it was approved before. */
  readonly record?: StepRecord;
  /** Absent: the Diagnosis itself. */
  readonly requiredBy?: DiagnosisStatus['planRequiredBy'];
}

export type Planned = NonNullable<DiagnosisStatus['plannedActions']>;

/** What a repair wants to do, as actions of a plan. */
export function plannedOf(wanted: readonly Wanted[]): Planned {
  return wanted.flatMap((each) => {
    const { actions, summary } = each;
    const digest = digestOf(each);
    return actions.map((action) => ({ ...actionRecord(action, each), summary, digest }));
  });
}

/** The same actions of the same step give the same name. */
export function planName({ checkpoint }: DiagnosisStatus, planned: Planned): string {
  const { pathIndex = 0, nodeIndex = 0 } = checkpoint ?? {};
  const seen = planned.map((each) => [each.kind, each.description, each.details, each.digest]);
  return hashOf([pathIndex, nodeIndex, seen]);
}

/** Covers all actions for a finding with all their arguments. */
export function digestOf({ fault, finding, actions }: Wanted): string {
  return hashOf([fault, finding, actions]);
}

export function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);
}

/** Whether a repair may act now, or only plan. */
export function mayAct(
  { dryRun, recovery, approvedPlan }: DiagnosisSpec,
  { plan }: DiagnosisStatus,
): boolean {
  if (dryRun || recovery === 'Never') return false;
  return recovery !== 'Approval' || (plan !== undefined && plan === approvedPlan);
}

/** The digests of the approved plan: what has another digest is not approved. */
export function approvedDigests(
  { approvedPlan }: DiagnosisSpec,
  status: DiagnosisStatus,
): ReadonlySet<string | undefined> {
  const { plan, plannedActions = [] } = status;
  const planned = plannedActions.filter((each) => plan !== undefined && each.plan === plan);
  // A plan that was changed after its approval has another name.
  const isApproved = plan === approvedPlan && planName(status, planned) === plan;
  return new Set(isApproved ? planned.map(({ digest }) => digest) : []);
}
