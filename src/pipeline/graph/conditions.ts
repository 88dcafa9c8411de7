import { defined } from '../../lib/std/defined.ts';
import type { DiagnosisSpec, DiagnosisStatus } from '../api/diagnosis.ts';
import type { Condition } from '../api/fields.ts';
import { CONDITION_REASONS, type ConditionReason } from '../api/reasons.ts';

/**
 * The conditions with one more, or with the one of its type renewed. The time is that of the last
 * change of its status, as everywhere in Kubernetes.
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

/** A status that says why: the condition of a reason, with the name that its message speaks of. */
export function withReason(
  status: DiagnosisStatus,
  reason: ConditionReason,
  now: Date,
  name = '',
  is: Condition['status'] = 'True',
): DiagnosisStatus {
  const { type, message } = CONDITION_REASONS[reason];
  // A name is put in as it is: "$&" in it means nothing.
  const said = message.replace('NAME', () => name);
  const condition: Condition = { type, status: is, reason, message: said };
  return { ...status, conditions: withCondition(status.conditions ?? [], condition, now) };
}

export function failedFor(
  status: DiagnosisStatus,
  reason: ConditionReason,
  now: Date,
  name?: string,
): DiagnosisStatus {
  return endedAs('Failed', withReason(status, reason, now, name), now);
}

/** What has ended is at no step any more. */
export function endedAs(
  phase: 'Succeeded' | 'Failed',
  status: DiagnosisStatus,
  now: Date,
): DiagnosisStatus {
  const { currentStep: _, ...rest } = status;
  return { ...rest, phase, endTime: timeText(now) };
}

/** Once the step of a plan has ended, or the whole has, nobody is waited for any more. */
export function withoutPlan(
  status: DiagnosisStatus,
  { approvedPlan }: DiagnosisSpec,
  now: Date,
): DiagnosisStatus {
  const { plan, ...rest } = status;
  if (plan === undefined) return status;
  const reason = plan === approvedPlan ? 'PlanApproved' : 'PlanDropped';
  return withReason(rest, reason, now, plan, 'False');
}

/** "2021-06-02T07:28:55Z": Kubernetes writes whole seconds. */
export function timeText(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}
