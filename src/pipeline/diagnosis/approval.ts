import type { DiagnosisSpec, DiagnosisStatus } from '../api/diagnosis.ts';
import { withoutWait, withReason } from '../graph/conditions.ts';
import { isPlanWaiting } from '../graph/result-of.ts';
import { type ApprovalRequest, planName } from '../steps/plan.ts';
import { withRecord } from './with-record.ts';

/** The status of a Diagnosis that waits for the approval of its plan. */
export function waitingFor(
  { planned, record, requiredBy = 'Diagnosis' }: ApprovalRequest,
  status: DiagnosisStatus,
  now: Date,
  fetching?: Parameters<typeof withRecord>[2],
): DiagnosisStatus {
  const plan = planName(status, planned);
  const others = (status.plannedActions ?? []).filter((each) => each.plan === undefined);
  const recorded = withoutWait(withRecord(status, record, fetching), now);
  const reported = withReason(recorded, 'ApprovalNeeded', now, plan);
  const plannedActions = [...others, ...planned.map((each) => ({ ...each, plan }))];
  return { ...reported, plan, planRequiredBy: requiredBy, plannedActions };
}

/** Says so if the approval names another plan than the one that waits. */
export function withOtherApproval(
  { approvedPlan }: DiagnosisSpec,
  status: DiagnosisStatus,
  now: Date,
): DiagnosisStatus {
  return approvedPlan ? withReason(status, 'OtherPlanApproved', now, status.plan) : status;
}

/** Why it waits, if its plan is not approved yet. */
export function waitsForApproval(spec: DiagnosisSpec, status: DiagnosisStatus): string | undefined {
  return isPlanWaiting(spec, status) ? `plan ${status.plan} waits for approval` : undefined;
}
