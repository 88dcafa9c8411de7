import { CONDITION_REASONS, type ConditionReason } from '../api/reasons.ts';
import type { FailedRecovery } from '../api/recovery-policy.ts';
import { failuresThatCount } from './failures.ts';
import { PROBLEMS_SHOWN_MAX } from './limits.ts';
import type { SeenPolicy } from './seen-policy.ts';
import { usableSlots } from './slot-count.ts';
import { windowsAt } from './windows.ts';

/** After so many failed recoveries no other one begins, if the policy does not say. */
const STOP_AFTER_FAILURES = 3;

/** The condition of a RecoveryPolicy that says whether the API server enforces the rights of KubeDiag. */
export const RIGHTS_ENFORCED = 'RightsEnforced';

export interface SeenRecovery {
  readonly policy: SeenPolicy;
  /** The failed recoveries in the annotations of all slot Leases. */
  readonly slotFailures: readonly FailedRecovery[];
  /** The numbers of the slots that nodes hold, where they are known. */
  readonly heldSlots?: readonly number[];
  /** When the Diagnosis was created that repairs; undefined for the cluster in general. */
  readonly createdAt: string | undefined;
  readonly now: Date;
}

/** A reason of a condition, and the name that goes into its message. */
export interface NotPermitted {
  readonly reason: ConditionReason;
  readonly name: string;
}

export type RecoveryDecision = {
  /** When time alone changes the decision. */
  readonly changesAt?: Date;
} & (
  | {
      readonly permitted: true;
      /** The Leases with lower numbers may be used. */
      readonly slots: number;
    }
  | ({ readonly permitted: false } & NotPermitted)
);

/** Whether the recovery of a node may begin now, for an agent that gets a slot. */
export function decideRecovery({
  policy,
  slotFailures,
  heldSlots,
  createdAt,
  now,
}: SeenRecovery): RecoveryDecision {
  if (policy.state === 'unusable') return no(policy.reason, policy.why);
  const { spec, status } = policy;
  if (status.observedGeneration === undefined || status.slots === undefined) {
    return no('RecoveryPolicyMissing', 'no controller has observed it yet');
  }
  // Before what a step waits for: it must not wait until somebody enforces rights, and repair then.
  const unchecked = whyUnchecked(policy, createdAt);
  if (unchecked) return { permitted: false, ...unchecked };
  if (spec.paused) return no('RecoveryPaused', 'default');
  const failures = failuresThatCount(spec, status.failures ?? [], slotFailures);
  const { stopAfterFailures = STOP_AFTER_FAILURES } = spec;
  if (failures.length >= stopAfterFailures) return no('RecoveryStopped', failuresText(failures));
  const { maintenanceWindows = [] } = spec;
  const { isOpen, changesAt, problems } = windowsAt(maintenanceWindows, now);
  const changes = changesAt ? { changesAt } : {};
  if (!isOpen) {
    return { ...no('OutsideMaintenanceWindow', windowText(changesAt, problems)), ...changes };
  }
  return { permitted: true, slots: usableSlots(policy, heldSlots), ...changes };
}

/** Why nobody has checked that the author of a Diagnosis may repair. */
export function whyUnchecked(
  { spec, status }: SeenPolicy & { readonly state: 'usable' },
  createdAt: string | undefined,
): NotPermitted | undefined {
  if (spec.withoutAdmissionPolicies === 'Allow') return undefined;
  const { conditions = [], rightsEnforcedSince: since } = status;
  const rights = conditions.find(({ type }) => type === RIGHTS_ENFORCED);
  if (rights?.status !== 'True' || since === undefined) {
    const reason = rights?.status === 'False' ? 'RightsNotEnforced' : 'RightsNotChecked';
    return { reason, name: rights?.message || 'no controller has checked it yet' };
  }
  const isOlder = createdAt !== undefined && !(Date.parse(createdAt) >= Date.parse(since));
  return isOlder ? { reason: 'AuthorNotChecked', name: since } : undefined;
}

/**
 * Why a step must not wait until it may repair: nobody has checked who asked for it, and nobody will. Such a
 * Diagnosis would repair its node as soon as the rights of others are enforced.
 */
export function whyRefused(why: NotPermitted): string | undefined {
  if (why.reason === 'AuthorNotChecked') return messageFor(why);
  if (why.reason === 'RightsNotEnforced') {
    return `${messageFor(why)}, then create the Diagnosis again`;
  }
  return undefined;
}

function no(reason: ConditionReason, name: string): RecoveryDecision {
  return { permitted: false, reason, name };
}

/** The message of the condition. */
export function messageFor({ reason, name }: NotPermitted): string {
  return CONDITION_REASONS[reason].message.replaceAll('NAME', () => name);
}

// 3 failed recoveries (the last on node web-3, Diagnosis default/web)
function failuresText(failures: readonly FailedRecovery[]): string {
  const count =
    failures.length === 1 ? '1 failed recovery' : `${failures.length} failed recoveries`;
  const last = failures.at(-1);
  return last ? `${count} (the last on node ${last.nodeName}, Diagnosis ${last.diagnosis})` : count;
}

// the next one opens at 2026-01-05T01:00:00Z; maintenance window "0 25 * * *" ...
function windowText(opensAt: Date | undefined, problems: readonly string[]): string {
  const at = opensAt && `${opensAt.toISOString().slice(0, 19)}Z`;
  const next = at ? `the next one opens at ${at}` : 'none of them opens again';
  const more = problems.length - PROBLEMS_SHOWN_MAX;
  const shown = problems.slice(0, PROBLEMS_SHOWN_MAX);
  return [next, ...shown, ...(more > 0 ? [`${more} more are not valid`] : [])].join('; ');
}
