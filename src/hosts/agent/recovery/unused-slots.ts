import type { Semaphore } from '../../../lib/std/semaphore.ts';
import type { SettledJournal } from '../../../pipeline/channel/executor.ts';
import { sleepUntilStopped } from '../../../pipeline/store/sleep-until-stopped.ts';
import { answerOf } from '../../../pipeline/store/store-answer.ts';
import { LATE_WRITE_MS, UNUSED_MS } from './limits.ts';
import type { OwnLeases } from './own-leases.ts';
import type { SlotLease, SlotLeases } from './slot-leases.ts';

export interface UnusedSlotsOptions {
  readonly nodeName: string;
  /** Settles the journal of this node. */
  readonly settle: () => Promise<SettledJournal>;
  readonly onMessage: (message: string) => void;
  readonly stop: AbortSignal;
  readonly unusedMs?: number;
  readonly lateWriteMs?: number;
}

interface Slots {
  readonly leases: SlotLeases;
  readonly own: OwnLeases;
  /** Reads and writes follow one another. */
  readonly inTurn: Semaphore;
  /** Whether a step repairs. */
  readonly isInUse: () => boolean;
}

/** Releases the slots that no step of this node uses, once its journal is settled. Until then it renews them. */
export class UnusedSlots {
  readonly #options: UnusedSlotsOptions;
  readonly #slots: Slots;
  /** Steps that the executor may still run, although they have ended here. Until the journal is settled. */
  #unsettledSteps = 0;
  #connections = 0;

  constructor(options: UnusedSlotsOptions, slots: Slots) {
    this.#options = options;
    this.#slots = slots;
  }

  get isSettled(): boolean {
    return this.#unsettledSteps === 0;
  }

  stepIsUnsettled(): void {
    this.#unsettledSteps += 1;
    this.#slots.own.mayHoldUnused = true;
  }

  /** What the last executor left may be settled now. */
  executorConnected(): void {
    this.#slots.own.mayHoldUnused = true;
    this.#connections += 1;
  }

  /** Until `stop`. */
  async run(): Promise<void> {
    const { own, isInUse } = this.#slots;
    const { stop, unusedMs = UNUSED_MS } = this.#options;
    while (!stop.aborted) {
      const connections = this.#connections;
      await sleepUntilStopped(unusedMs * (0.75 + Math.random() / 2), stop);
      // A step of an executor that has just connected goes on first.
      if (connections !== this.#connections) continue;
      if (!stop.aborted && own.mayHoldUnused && !isInUse()) await this.#release();
    }
  }

  async #release(): Promise<void> {
    const { own, inTurn, isInUse } = this.#slots;
    const { settle, onMessage } = this.#options;
    const first = await answerOf(this.#held());
    if (!first.ok) return;
    const unsettledSteps = this.#unsettledSteps;
    if (first.value.length > 0) {
      const settled = await settle();
      if (!settled.isSettled) {
        const name = first.value.map((slot) => slot.name).join(', ');
        onMessage(`Lease ${name}: not released: an action may still be running: ${settled.why}`);
        await inTurn.run(() => this.#renew(first.value));
        return;
      }
    }
    // Not those that have ended meanwhile. Without a slot a person has released it.
    this.#unsettledSteps -= unsettledSteps;
    await inTurn.run(async () => {
      if (isInUse() || this.#unsettledSteps > 0) return;
      const listedAt = performance.now();
      const now = await answerOf(this.#held());
      if (!now.ok) return;
      for (const slot of now.value) {
        const isReleased = await own.release({ name: slot.name, lease: own.lease(slot) });
        if (!isReleased) return;
        onMessage(`Lease ${slot.name}: released, no step uses it`);
      }
      if (own.failures.length > 0) await own.writeFailures();
      if (own.failures.length > 0) return;
      const { lateWriteMs = LATE_WRITE_MS } = this.#options;
      own.mayHoldUnused = listedAt - own.unansweredAt < lateWriteMs;
    });
  }

  async #held(): Promise<readonly SlotLease[]> {
    const slots = await this.#slots.leases.list();
    return slots.filter(({ holder }) => holder === this.#options.nodeName);
  }

  /** An action may be under way: the controller frees a slot that nobody renews if the Node is deleted. */
  async #renew(slots: readonly SlotLease[]): Promise<void> {
    const { own, isInUse } = this.#slots;
    if (isInUse()) return;
    for (const slot of slots) await own.hold(own.lease(slot));
  }
}
