import {
  FAILURES_ANNOTATION,
  SLOT_LABEL,
  SLOT_PREFIX,
} from '../../../pipeline/api/cluster-names.ts';
import type { FailedRecovery } from '../../../pipeline/api/recovery-policy.ts';
import { failuresIn, notLaterThan } from '../../../pipeline/recovery/failures.ts';
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
export function slotsIn(leases: Iterable<LeaseDigest>, now: Date): readonly Slot[] {
  return [...leases]
    .filter(({ name, labels }) => name.startsWith(SLOT_PREFIX) && Object.hasOwn(labels, SLOT_LABEL))
    .map((lease) => {
      const written = failuresIn(lease.annotations[FAILURES_ANNOTATION]);
      const failures = notLaterThan(now, written);
      const isCorrect = failures.every(({ time }, at) => time === written[at]?.time);
      return {
        number: numberOf(lease.name),
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
  const surplus = slots.filter(({ number = Infinity }) => number >= wanted);
  return {
    missing: numbers.filter((number) => !existing.has(number)).map(slotName),
    surplus: surplus.map(({ lease }) => lease).filter(({ holder }) => holder === ''),
    usable: usableOf(slots, wanted),
  };
}

function slotName(number: number): string {
  return `${SLOT_PREFIX}${number}`;
}

/**
 * As many as `wanted`, unless nodes hold Leases beyond that: then fewer, so that all together are no more
 * than `wanted`.
 */
function usableOf(slots: readonly Slot[], wanted: number): number {
  const held = slots.filter(({ lease }) => lease.holder !== '');
  const heldFrom = (at: number) => held.filter(({ number = Infinity }) => number >= at).length;
  for (let usable = wanted; usable > 0; usable -= 1) {
    if (usable + heldFrom(usable) <= wanted) return usable;
  }
  return 0;
}

// kubediag-recovery-12
function numberOf(name: string): number | undefined {
  const digits = name.slice(SLOT_PREFIX.length);
  return /^(0|[1-9]\d{0,5})$/.test(digits) ? Number(digits) : undefined;
}
