import { defined } from '../../lib/std/defined.ts';
import type { DiagnosisSpec, DiagnosisStatus } from '../api/diagnosis.ts';
import type { Condition } from '../api/fields.ts';
import { CONDITION_REASONS, type ConditionReason } from '../api/reasons.ts';

/**
 * Adds a condition, or replaces the one of its type. lastTransitionTime changes with the status only,
 * as everywhere in Kubernetes.
 */
export function withCondition(
  conditions: readonly Condition[],
  next: Condition,
  now: Date,
): Condition[] {
  const before = conditions.find(({ type }) => type === next.type);
  const isSame = before?.status === next.status && before.lastTransitionTime !== undefined;
  const at = isSame ? before.lastTransitionTime : timeText(now);
  const renewed = defined({ ...before, ...next, lastTransitionTime: at });
  if (!before) return [...conditions, renewed];
  return conditions.map((each) => (each === before ? renewed : each));
}

/** Adds the condition of a reason; `name` goes into its message. */
export function withReason(
  status: DiagnosisStatus,
  reason: ConditionReason,
  now: Date,
  name = '',
  is: Condition['status'] = 'True',
): DiagnosisStatus {
  const { type, message } = CONDITION_REASONS[reason];
  // A function, because "$&" in a name would have a meaning.
  const text = message.replaceAll('NAME', () => name);
  const condition: Condition = { type, status: is, reason, message: text };
  return { ...status, conditions: withCondition(status.conditions ?? [], condition, now) };
}

/** Ends it with the condition of the reason, and with `Failed`, for which people wait. */
export function failedFor(
  status: DiagnosisStatus,
  reason: ConditionReason,
  now: Date,
  name?: string,
): DiagnosisStatus {
  const reported = withReason(status, reason, now, name);
  // An object without space for a status has space for one condition.
  if (reason === 'SyncDiagnosisFailed') return endedAs('Failed', reported, now);
  const { conditions = [] } = reported;
  const cause = conditions.find(({ type }) => type === CONDITION_REASONS[reason].type);
  const failed: Condition = { ...cause, type: 'Failed', status: 'True' };
  return endedAs(
    'Failed',
    { ...reported, conditions: withCondition(conditions, failed, now) },
    now,
  );
}

/** An ended Diagnosis has no current step. */
export function endedAs(
  phase: 'Succeeded' | 'Failed',
  status: DiagnosisStatus,
  now: Date,
): DiagnosisStatus {
  const { currentStep: _, ...rest } = status;
  return { ...rest, phase, endTime: timeText(now) };
}

/** When its step, or the Diagnosis, has ended: it waits for nothing, not even for an approval. */
export function settled(status: DiagnosisStatus, spec: DiagnosisSpec, now: Date): DiagnosisStatus {
  return withoutWait(withoutPlan(status, spec, now), now);
}

function withoutPlan(
  status: DiagnosisStatus,
  { approvedPlan }: DiagnosisSpec,
  now: Date,
): DiagnosisStatus {
  const { plan, planRequiredBy: _, ...rest } = status;
  if (plan === undefined) return status;
  const reason = plan === approvedPlan ? 'PlanApproved' : 'PlanDropped';
  return withReason(rest, reason, now, plan, 'False');
}

/** For each condition of a step that runs later: what its end is called when the step did not run. */
const WAITS: readonly ConditionReason[] = ['RecoveryNotBegun', 'ControllerStepOver'];

/** A step that ends, or never runs, waits for nothing. */
export function withoutWait(status: DiagnosisStatus, now: Date): DiagnosisStatus {
  const isWaiting = (reason: ConditionReason) => isTrue(status, CONDITION_REASONS[reason].type);
  return WAITS.filter(isWaiting).reduce(
    (current, reason) => withReason(current, reason, now, '', 'False'),
    status,
  );
}

export function isTrue({ conditions = [] }: DiagnosisStatus, type: string): boolean {
  return conditions.some((each) => each.type === type && each.status === 'True');
}

/** "2021-06-02T07:28:55Z": Kubernetes writes whole seconds. */
export function timeText(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}
