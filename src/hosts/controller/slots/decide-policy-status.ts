import { isDeepStrictEqual } from 'node:util';
import { defined } from '../../../lib/std/defined.ts';
import { FAILURES_LISTED_MAX, NODES_IN_RECOVERY_LISTED_MAX } from '../../../pipeline/api/limits.ts';
import type {
  RecoveryPolicySpec,
  RecoveryPolicyStatus,
} from '../../../pipeline/api/recovery-policy.ts';
import { withCondition } from '../../../pipeline/graph/conditions.ts';
import { decideRecovery } from '../../../pipeline/recovery/decide-recovery.ts';
import { failuresThatCount, notInFuture } from '../../../pipeline/recovery/failures.ts';
import { recoveryCondition } from '../../../pipeline/recovery/recovery-condition.ts';
import type { SeenPolicy } from '../../../pipeline/recovery/seen-policy.ts';
import type { Slot } from './decide-slots.ts';
import type { SeenRights } from './seen-rights.ts';

interface SeenForStatus {
  readonly spec: RecoveryPolicySpec;
  readonly before: RecoveryPolicyStatus;
  readonly generation: number;
  readonly slots: readonly Slot[];
  readonly usable: number;
  readonly rights: SeenRights;
  readonly now: Date;
}

export interface PolicyStatusDecision {
  readonly status: RecoveryPolicyStatus;
  readonly isChanged: boolean;
  readonly isPermitted: boolean;
  /** When time alone changes it: a maintenance window opens or closes. */
  readonly changesAt?: Date | undefined;
}

/** The status that the RecoveryPolicy should have now. */
export function decidePolicyStatus(seen: SeenForStatus): PolicyStatusDecision {
  const { spec, before, generation, slots, usable, now } = seen;
  const { condition, since } = seen.rights;
  const failures = failuresThatCount(
    spec,
    notInFuture(now, spec, before.failures ?? []),
    ...slots.map((slot) => slot.failures),
  );
  const status: RecoveryPolicyStatus = {
    slots: usable,
    nodesInRecovery: slots
      .filter(({ lease }) => lease.holder !== '')
      .slice(0, NODES_IN_RECOVERY_LISTED_MAX)
      .map(({ lease }) =>
        defined({ nodeName: lease.holder, lease: lease.name, since: lease.acquireTime }),
      ),
    failures: failures.slice(-FAILURES_LISTED_MAX),
    ...(since === undefined ? {} : { rightsEnforcedSince: since }),
    conditions: withCondition(before.conditions ?? [], condition, now),
    observedGeneration: generation,
  };
  const decision = decideRecovery({
    policy: { state: 'usable', spec, status, generation },
    slotFailures: [],
    createdAt: undefined,
    now,
  });
  const conditions = withCondition(status.conditions ?? [], recoveryCondition(decision), now);
  const decided = { ...status, conditions };
  return {
    status: decided,
    isChanged: !isDeepStrictEqual(decided, before),
    isPermitted: decision.permitted,
    changesAt: decision.changesAt,
  };
}

/** The status of a policy that cannot be used: it permits nothing, and the rest of its status stays. */
export function unusablePolicyStatus(
  policy: SeenPolicy & { readonly state: 'unusable' },
  before: RecoveryPolicyStatus,
  now: Date,
): PolicyStatusDecision {
  const decision = decideRecovery({ policy, slotFailures: [], createdAt: undefined, now });
  const conditions = withCondition(before.conditions ?? [], recoveryCondition(decision), now);
  const status = { ...before, conditions };
  return { status, isChanged: !isDeepStrictEqual(status, before), isPermitted: false };
}
