import type { FailedRecovery } from '../../../pipeline/api/recovery-policy.ts';
import type { Lease } from '../../../pipeline/kube/lease.ts';
import type { NotPermitted } from '../../../pipeline/recovery/decide-recovery.ts';
import { answerOf, type StoreAnswer } from '../../../pipeline/store/store-answer.ts';
import { isTemporary } from '../../../pipeline/store/store-error.ts';
import type { SlotLease, SlotLeases } from './slot-leases.ts';

/** A slot that this node has held or wants to hold. */
export interface OwnSlot {
  readonly name: string;
  readonly lease: Lease;
}

export type TakenSlot = OwnSlot | { readonly denied: NotPermitted } | undefined;

/**
 * What this node writes to the slot Leases, and what is still to be written: each write adds the failed
 * recoveries that no Lease has yet.
 */
export class OwnLeases {
  readonly #leases: SlotLeases;
  readonly #onMessage: (message: string) => void;
  /** In no Lease yet, by the uid of the Diagnosis. */
  readonly #failures = new Map<string, FailedRecovery>();
  /**
   * This node may hold a slot that no step uses, or have a failure to write: after a start, a lost answer or
   * a failed release.
   */
  mayHoldUnused = true;
  /** When a slot was last asked for without an answer (`performance.now`). */
  unansweredAt = Number.NEGATIVE_INFINITY;

  constructor(leases: SlotLeases, onMessage: (message: string) => void) {
    this.#leases = leases;
    this.#onMessage = onMessage;
  }

  get failures(): readonly FailedRecovery[] {
    return [...this.#failures.values()];
  }

  addFailure(failure: FailedRecovery): void {
    this.#failures.set(failure.uid, failure);
  }

  /** One of these slots, if this node gets one, or why its agent cannot write them. */
  async take(slots: readonly SlotLease[]): Promise<TakenSlot> {
    for (const slot of shuffled(slots)) {
      const lease = this.lease(slot);
      const answer = await this.hold(lease);
      if (!answer.ok) {
        const { error } = answer;
        if (isTemporary(error)) {
          // It may have happened, or happen later.
          this.unansweredAt = performance.now();
          this.mayHoldUnused = true;
        }
        this.#onMessage(`Lease ${slot.name}: ${error.message}`);
        const name = `The agent of this node cannot take Lease ${slot.name} (${error.reason})`;
        return { denied: { reason: 'NoRecoverySlot', name } };
      }
      if (!answer.value) continue;
      return { name: slot.name, lease };
    }
    return undefined;
  }

  /** Acquires or renews it. Its write adds the failures. */
  async hold(lease: Lease): Promise<StoreAnswer<boolean>> {
    const answer = await answerOf(lease.hold());
    if (answer.ok && answer.value) this.#failures.clear();
    return answer;
  }

  lease(slot: SlotLease): Lease {
    return this.#leases.lease(slot, () => this.failures);
  }

  /** Says whether it is free, or not ours any more. */
  async release({ name, lease }: OwnSlot): Promise<boolean> {
    const answer = await answerOf(lease.release());
    if (answer.ok) {
      if (answer.value) this.#failures.clear();
      return true;
    }
    this.mayHoldUnused = true;
    this.#onMessage(`Lease ${name}: ${answer.error.message}`);
    return false;
  }

  /** Into a free Lease: the failed step has lost its own. */
  async writeFailures(): Promise<void> {
    const listed = await answerOf(this.#leases.list());
    const slots = listed.ok ? listed.value : [];
    for (const slot of shuffled(slots.filter(({ holder }) => holder === ''))) {
      const added = this.#leases.addFailures(slot, this.failures);
      const answer = await answerOf(added);
      if (!answer.ok) continue;
      this.#failures.clear();
      return;
    }
  }
}

/** Agents that try in the same order get in each other's way. */
function shuffled<T>(list: readonly T[]): readonly T[] {
  return list
    .map((value) => ({ value, order: Math.random() }))
    .toSorted((left, right) => left.order - right.order)
    .map(({ value }) => value);
}
