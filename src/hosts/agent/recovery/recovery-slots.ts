import { Semaphore } from '../../../lib/std/semaphore.ts';
import type { FailedRecovery } from '../../../pipeline/api/recovery-policy.ts';
import type { SettledJournal } from '../../../pipeline/channel/executor.ts';
import type { KubeClient } from '../../../pipeline/kube/kube-client.ts';
import type { Lease } from '../../../pipeline/kube/lease.ts';
import { decideRecovery, type NotPermitted } from '../../../pipeline/recovery/decide-recovery.ts';
import type { SeenPolicy } from '../../../pipeline/recovery/seen-policy.ts';
import type { StepDelay } from '../../../pipeline/steps/step-to-run.ts';
import { sleepUntilStopped } from '../../../pipeline/store/sleep-until-stopped.ts';
import { answerOf } from '../../../pipeline/store/store-answer.ts';
import type { nextAskMs } from './ask-again.ts';
import { LATE_WRITE_MS, SLOT_RENEW_MS, UNUSED_MS } from './limits.ts';
import { SharedWait } from './shared-wait.ts';
import { type SlotLease, SlotLeases } from './slot-leases.ts';

export interface RecoverySlotsOptions {
  readonly client: KubeClient;
  /** The namespace of the slot Leases. */
  readonly namespace: string;
  readonly nodeName: string;
  /** Settles the journal of this node. */
  readonly settle: () => Promise<SettledJournal>;
  readonly onMessage: (message: string) => void;
  readonly stop: AbortSignal;
  readonly renewMs?: number;
  readonly unusedMs?: number;
  readonly lateWriteMs?: number;
  readonly askAgainMs?: typeof nextAskMs;
  readonly now?: () => Date;
}

export interface SlotRequest {
  /** Whether the step acts under this policy; otherwise it needs no slot. */
  readonly needsSlot: (policy: UsablePolicy) => boolean;
  /** Whether the executor says that the step has begun to act. Unknown is no. */
  readonly hasBegun: () => Promise<boolean>;
}

/** A step may repair until it has called `end`. */
export interface Turn {
  /** The Lease that this node holds. */
  readonly lease: string;
  /** Aborted if another node holds the Lease: no further action may begin. */
  readonly lost: AbortSignal;
  readonly end: (end: StepEnd) => Promise<void>;
}

/** After the check afterwards. */
export interface StepEnd {
  readonly failure?: FailedRecovery | undefined;
  /** False: the executor had the step, and has not said how it ended. It may still act. */
  readonly isAnswered: boolean;
}

/** The policy that was decided with, and the slot, if the step needs one. */
export interface Permission {
  readonly policy: UsablePolicy;
  readonly turn?: Turn;
}

type UsablePolicy = SeenPolicy & { readonly state: 'usable' };

interface Held {
  readonly name: string;
  readonly lease: Lease;
  readonly lost: AbortController;
}

/**
 * The slot of this node: its steps repair only while the node holds one, and share it. Everything that a
 * lost answer or a crash left behind is corrected by `run`.
 */
export class RecoverySlots {
  readonly #options: RecoverySlotsOptions;
  readonly #leases: SlotLeases;
  /** Reads and writes follow one another. */
  readonly #inTurn = new Semaphore(1);
  readonly #wait: SharedWait;
  #held: Held | undefined;
  #users = 0;
  /** Not written to a Lease yet. */
  readonly #failures = new Map<string, FailedRecovery>();
  /** This node may hold a slot that no step uses: after a start, a lost answer or a failed release. */
  #mayHoldUnused = true;
  /** When a slot was last asked for without an answer (`performance.now`). */
  #unansweredAt = Number.NEGATIVE_INFINITY;
  /** Steps that the executor may still run, although they have ended here. Until the journal is settled. */
  #unsettledSteps = 0;

  constructor(options: RecoverySlotsOptions) {
    this.#options = options;
    this.#leases = new SlotLeases(options);
    this.#wait = new SharedWait(options.askAgainMs);
  }

  /** The executor is there again: what the last one left may be settled now. */
  executorConnected(): void {
    this.#mayHoldUnused = true;
  }

  /**
   * A slot for a step that needs one, or why it has to wait. The policy is read for each decision. A step that
   * had begun to act before it was interrupted goes on with the slot that its node holds, whatever the
   * policy says by now.
   */
  begin({ needsSlot, hasBegun }: SlotRequest): Promise<Permission | StepDelay> {
    return this.#inTurn.run(async () => {
      const waiting = this.#wait.current();
      if (waiting?.policy.state === 'unusable' || (waiting && needsSlot(waiting.policy))) {
        return waiting.delay;
      }
      const policy = await this.#leases.policy();
      const now = this.#now();
      const wait = (why: Parameters<SharedWait['begin']>[1]) => this.#wait.begin(policy, why, now);
      if (policy.state === 'unusable') return wait(missing(policy.why));
      if (!needsSlot(policy)) return { policy };
      const first = decideRecovery({ policy, slotFailures: [], now });
      if (!first.permitted && !this.#mayHoldUnused) return wait(first);
      const listed = await answerOf(this.#leases.list());
      if (!listed.ok) {
        return wait(missing(`the agent cannot list the Leases for it (${listed.error.reason})`));
      }
      const slots = listed.value;
      const slotFailures = [...slots.flatMap((slot) => slot.failures), ...this.#failures.values()];
      const heldSlots = slots.filter(({ holder }) => holder !== '').map(({ number }) => number);
      const decision = decideRecovery({ policy, slotFailures, heldSlots, now });
      const mine = slots.filter(({ holder }) => holder === this.#options.nodeName);
      if (!decision.permitted) {
        const goesOn = mine.length > 0 && (await hasBegun());
        const turn = goesOn ? await this.#take(mine) : undefined;
        return turn ? { policy, turn } : wait(decision);
      }
      if (slots.length === 0)
        return wait(missing('no controller has created the Leases for it yet'));
      const free = slots.filter(({ number, holder }) => number < decision.slots && holder === '');
      const own = this.#goOnWith(mine, decision.slots);
      const turn = await this.#take(own.length > 0 ? own : shuffled(free));
      if (turn) return { policy, turn };
      return wait(allTaken(Math.max(heldSlots.length, decision.slots)));
    });
  }

  /** Releases what no step uses, until `stop`. */
  async run(): Promise<void> {
    const { stop, unusedMs = UNUSED_MS } = this.#options;
    while (!stop.aborted) {
      await sleepUntilStopped(unusedMs * (0.75 + Math.random() / 2), stop);
      if (!stop.aborted && this.#mayHoldUnused && this.#users === 0) await this.#releaseUnused();
    }
  }

  #now(): Date {
    return this.#options.now?.() ?? new Date();
  }

  /** The slot that its steps use, or one that an earlier agent left and that is still permitted. */
  #goOnWith(mine: readonly SlotLease[], slots: number): readonly SlotLease[] {
    const used = this.#users > 0 ? mine.filter(({ name }) => name === this.#held?.name) : [];
    return used.length > 0 ? used : mine.filter(({ number }) => number < slots);
  }

  /** One of these slots, if this node gets one. */
  async #take(slots: readonly SlotLease[]): Promise<Turn | undefined> {
    for (const slot of slots) {
      const isUsed = this.#held?.name === slot.name && !this.#held.lost.signal.aborted;
      const held = isUsed && this.#held ? this.#held : this.#heldFrom(slot);
      const answer = await answerOf(held.lease.hold());
      if (!answer.ok) {
        // It may have happened, or happen later.
        this.#unansweredAt = performance.now();
        this.#mayHoldUnused = true;
        this.#options.onMessage(`Lease ${slot.name}: ${answer.error.message}`);
        return undefined;
      }
      if (answer.value) return this.#turn(held);
    }
    return undefined;
  }

  #heldFrom(slot: SlotLease): Held {
    const lease = this.#leases.lease(slot, () => [...this.#failures.values()]);
    return { name: slot.name, lease, lost: new AbortController() };
  }

  #turn(held: Held): Turn {
    const before = this.#held;
    if (before && before !== held) this.#mayHoldUnused = true;
    this.#held = held;
    this.#users += 1;
    this.#failures.clear();
    this.#wait.end();
    if (before !== held) void this.#renew(held);
    const end = async (ending: StepEnd) => this.#inTurn.run(() => this.#end(ending));
    return { lease: held.name, lost: held.lost.signal, end };
  }

  /** An action that has begun is finished, whatever becomes of the renewal. */
  async #renew(held: Held): Promise<void> {
    const { renewMs = SLOT_RENEW_MS, stop, onMessage } = this.#options;
    const isHeld = () => this.#held === held && this.#users > 0;
    while (isHeld()) {
      await sleepUntilStopped(renewMs * (0.9 + Math.random() * 0.2), stop, { ref: false });
      if (stop.aborted) return;
      await this.#inTurn.run(async () => {
        if (!isHeld() || held.lost.signal.aborted) return;
        const answer = await answerOf(held.lease.hold());
        if (!answer.ok) onMessage(`Lease ${held.name}: ${answer.error.message}`);
        else if (answer.value) this.#failures.clear();
        else if (await this.#isLost(held)) this.#lose(held);
      });
    }
  }

  async #isLost({ name }: Held): Promise<boolean> {
    const listed = await answerOf(this.#leases.list());
    if (!listed.ok) return false;
    const { nodeName } = this.#options;
    return !listed.value.some((slot) => slot.name === name && slot.holder === nodeName);
  }

  #lose(held: Held): void {
    const { nodeName, onMessage } = this.#options;
    const why = `node ${nodeName} no longer holds Lease ${held.name}: somebody has released it during a recovery`;
    onMessage(why);
    held.lost.abort(new Error(why));
  }

  async #end({ failure, isAnswered }: StepEnd): Promise<void> {
    this.#users -= 1;
    if (failure) this.#failures.set(failure.uid, failure);
    if (!isAnswered) this.#unsettledSteps += 1;
    const held = this.#held;
    if (!held) return;
    if (this.#users > 0 || this.#unsettledSteps > 0) {
      // The others know of it at once.
      const answer = failure ? await answerOf(held.lease.hold()) : undefined;
      if (answer?.ok && answer.value) this.#failures.clear();
      if (this.#users > 0) return;
      this.#held = undefined;
      this.#mayHoldUnused = true;
      return;
    }
    this.#held = undefined;
    const answer = await answerOf(held.lease.release());
    if (answer.ok && answer.value) this.#failures.clear();
    if (answer.ok) return;
    this.#mayHoldUnused = true;
    this.#options.onMessage(`Lease ${held.name}: ${answer.error.message}`);
  }

  async #releaseUnused(): Promise<void> {
    const { nodeName, settle, onMessage } = this.#options;
    const mine = async () => {
      const slots = await this.#leases.list();
      return slots.filter(({ holder }) => holder === nodeName);
    };
    const first = await answerOf(mine());
    if (!first.ok) return;
    const unsettledSteps = this.#unsettledSteps;
    if (first.value.length > 0) {
      const settled = await settle();
      if (!settled.isSettled) {
        const name = first.value.map((slot) => slot.name).join(', ');
        onMessage(`Lease ${name} is not released: the journal is not settled: ${settled.why}`);
        return;
      }
    }
    // Not those that have ended meanwhile. Without a slot a person has released it.
    this.#unsettledSteps -= unsettledSteps;
    await this.#inTurn.run(async () => {
      if (this.#users > 0 || this.#unsettledSteps > 0) return;
      const listedAt = performance.now();
      const now = await answerOf(mine());
      if (!now.ok) return;
      for (const slot of now.value) {
        const answer = await answerOf(this.#heldFrom(slot).lease.release());
        if (!answer.ok) return;
        if (answer.value) this.#failures.clear();
        onMessage(`Lease ${slot.name}: released, no step uses it`);
      }
      const { lateWriteMs = LATE_WRITE_MS } = this.#options;
      this.#mayHoldUnused = listedAt - this.#unansweredAt < lateWriteMs;
    });
  }
}

function missing(name: string): NotPermitted {
  return { reason: 'RecoveryPolicyMissing', name };
}

function allTaken(slots: number): NotPermitted {
  const name = slots === 1 ? '1 node is in recovery' : `${slots} nodes are in recovery`;
  return { reason: 'NoRecoverySlot', name };
}

/** Agents that try in the same order get in each other's way. */
function shuffled<T>(list: readonly T[]): readonly T[] {
  return list
    .map((value) => ({ value, order: Math.random() }))
    .toSorted((left, right) => left.order - right.order)
    .map(({ value }) => value);
}
