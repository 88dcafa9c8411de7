import {
  FAILURES_ANNOTATION,
  SLOT_LABEL,
  SLOT_PREFIX,
} from '../../../pipeline/api/cluster-names.ts';
import type { FailedRecovery, RecoveryPolicySpec } from '../../../pipeline/api/recovery-policy.ts';
import { failuresIn, notInFuture } from '../../../pipeline/recovery/failures.ts';
import { usableBelow } from '../../../pipeline/recovery/slot-count.ts';
import { slotName, slotNumber } from '../../../pipeline/recovery/slot-name.ts';
import type { LeaseDigest } from '../digests.ts';

/** A Lease for recovery. */
export interface Slot {
  /** Undefined if its name has no number of ours. */
  readonly number: number | undefined;
  readonly lease: LeaseDigest;
  /** None of them in the future. */
  readonly failures: readonly FailedRecovery[];
  /** The annotation that the Lease should have instead of one with times in the future. */
  readonly correctedAnnotation?: string;
}

export interface SlotsDecision {
  /** Names of Leases to create. */
  readonly missing: readonly string[];
  /** Free Leases to delete, once their failures are in the status of the policy. */
  readonly surplus: readonly LeaseDigest[];
  /** The Leases with lower numbers may be taken now. */
  readonly usable: number;
}

/** The slots among the Leases of our namespace, by their numbers. An agent can label its own Lease, which is none. */
export function slotsIn(
  leases: Iterable<LeaseDigest>,
  now: Date,
  spec: Pick<RecoveryPolicySpec, 'failuresResetTime'> = {},
): readonly Slot[] {
  return [...leases]
    .filter(({ name, labels }) => name.startsWith(SLOT_PREFIX) && Object.hasOwn(labels, SLOT_LABEL))
    .map((lease) => {
      const written = failuresIn(lease.annotations[FAILURES_ANNOTATION]);
      const failures = notInFuture(now, spec, written);
      const isCorrect = failures.every(({ time }, at) => time === written[at]?.time);
      return {
        number: slotNumber(lease.name),
        lease,
        failures,
        ...(isCorrect ? {} : { correctedAnnotation: JSON.stringify(failures) }),
      };
    })
    .toSorted((a, b) => (a.number ?? Infinity) - (b.number ?? Infinity));
}

/** What to do so that `wanted` nodes may be in recovery at once. A Lease that is held stays. */
export function decideSlots(slots: readonly Slot[], wanted: number): SlotsDecision {
  const existing = new Set(slots.map(({ number }) => number));
  const numbers = Array.from({ length: wanted }, (_, number) => number);
  const held = slots
    .filter(({ lease }) => lease.holder !== '')
    .map(({ number = Infinity }) => number);
  const surplus = slots.filter(({ number = Infinity }) => number >= wanted);
  return {
    missing: numbers.filter((number) => !existing.has(number)).map(slotName),
    surplus: surplus.map(({ lease }) => lease).filter(({ holder }) => holder === ''),
    usable: usableBelow(wanted, held),
  };
}
