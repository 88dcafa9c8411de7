import { Semaphore } from '../../../lib/std/semaphore.ts';
import type { FailedRecovery } from '../../../pipeline/api/recovery-policy.ts';
import type { SettledJournal } from '../../../pipeline/channel/executor.ts';
import type { KubeClient } from '../../../pipeline/kube/kube-client.ts';
import type { Lease } from '../../../pipeline/kube/lease.ts';
import { decideRecovery, type NotPermitted } from '../../../pipeline/recovery/decide-recovery.ts';
import type { SeenPolicy } from '../../../pipeline/recovery/seen-policy.ts';
import type { StepDelay } from '../../../pipeline/steps/step-to-run.ts';
import { sleepUntilStopped } from '../../../pipeline/store/sleep-until-stopped.ts';
import { answerOf, type StoreAnswer } from '../../../pipeline/store/store-answer.ts';
import { nextAskMs } from './ask-again.ts';
import { ASK_FORGET_MS, SLOT_RENEW_MS, UNUSED_MS } from './limits.ts';
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
  readonly askAgainMs?: typeof nextAskMs;
  readonly now?: () => Date;
}

/** A step may repair until it has called `end`. */
export interface Turn {
  /** The Lease that this node holds. */
  readonly lease: string;
  /** Aborted if another node holds the Lease: no further action may begin. */
  readonly lost: AbortSignal;
  /** After the check afterwards; with what failed, if it did. */
  readonly end: (failure: FailedRecovery | undefined) => Promise<void>;
}

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
  #held: Held | undefined;
  #users = 0;
  /** Not written to a Lease yet. */
  readonly #failures = new Map<string, FailedRecovery>();
  /** This node may hold a slot that no step uses: after a start, a lost answer or a failed release. */
  #mayHoldUnused = true;
  /** The last answer, for other steps that wait for the same. */
  #delay:
    | { readonly policy: SeenPolicy; readonly why: NotPermitted; readonly until: number }
    | undefined;
  #asked = { count: 0, at: 0 };

  constructor(options: RecoverySlotsOptions) {
    this.#options = options;
    this.#leases = new SlotLeases(options);
  }

  /** The executor is there again: what the last one left may be settled now. */
  executorConnected(): void {
    this.#mayHoldUnused = true;
  }

  /** The policy as it is now. It is read again when the waiting agent asks again. */
  async policy(): Promise<SeenPolicy> {
    const { policy } = this.#waiting() ?? {};
    if (policy) return policy;
    const answer = await answerOf(this.#leases.policy());
    if (answer.ok) return answer.value;
    const why = `the API server does not answer the agent (${answer.error.reason})`;
    return { state: 'unusable', why };
  }

  /**
   * A slot for a step, or why it has to wait. A step that had begun to repair before it was interrupted goes
   * on with the slot that its node holds, whatever the policy says by now.
   */
  begin(policy: SeenPolicy, hasBegun: () => Promise<boolean>): Promise<Turn | StepDelay> {
    return this.#inTurn.run(async () => {
      const waiting = this.#waiting();
      if (waiting) return delayFor(waiting.why, waiting.until - performance.now());
      const now = this.#now();
      const first = decideRecovery({ policy, slotFailures: [], now });
      if (!first.permitted && !this.#mayHoldUnused) return this.#wait(policy, first);
      const listed = await answerOf(this.#leases.list());
      if (!listed.ok) return this.#wait(policy, unreadable(listed));
      const slots = listed.value;
      const slotFailures = [...slots.flatMap((slot) => slot.failures), ...this.#failures.values()];
      const heldSlots = slots.filter(({ holder }) => holder !== '').map(({ number }) => number);
      const decision = decideRecovery({ policy, slotFailures, heldSlots, now });
      const mine = slots.filter(({ holder }) => holder === this.#options.nodeName);
      if (!decision.permitted) {
        const goesOn = mine.length > 0 && (await hasBegun());
        return (goesOn && (await this.#take(mine))) || this.#wait(policy, decision);
      }
      if (slots.length === 0) return this.#wait(policy, WITHOUT_LEASES);
      const free = slots.filter(({ number, holder }) => number < decision.slots && holder === '');
      const own = this.#goOnWith(mine, decision.slots);
      const turn = await this.#take(own.length > 0 ? own : shuffled(free));
      return turn ?? this.#wait(policy, allTaken(Math.max(heldSlots.length, decision.slots)));
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

  #waiting() {
    return this.#delay && this.#delay.until > performance.now() ? this.#delay : undefined;
  }

  #wait(policy: SeenPolicy, why: NotPermitted & { readonly changesAt?: Date }): StepDelay {
    const at = performance.now();
    const isOld = at - this.#asked.at > ASK_FORGET_MS;
    const count = isOld ? 0 : this.#asked.count;
    this.#asked = { count: count + 1, at };
    const { askAgainMs = nextAskMs } = this.#options;
    const againMs = askAgainMs(count, why.changesAt, this.#now());
    this.#delay = { policy, why, until: at + againMs };
    return delayFor(why, againMs);
  }

  /** The slot that its steps use, or one that an earlier agent left and that is still permitted. */
  #goOnWith(mine: readonly SlotLease[], slots: number): readonly SlotLease[] {
    const used = this.#users > 0 ? mine.filter(({ name }) => name === this.#held?.name) : [];
    return used.length > 0 ? used : mine.filter(({ number }) => number < slots);
  }

  /** One of these slots, if this node gets one. */
  async #take(slots: readonly SlotLease[]): Promise<Turn | undefined> {
    for (const slot of slots) {
      const held = this.#held?.name === slot.name ? this.#held : this.#heldFrom(slot);
      const answer = await answerOf(held.lease.hold());
      if (!answer.ok) {
        // It may have happened.
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
    if (this.#held && this.#held !== held) this.#mayHoldUnused = true;
    this.#held = held;
    this.#users += 1;
    this.#failures.clear();
    this.#delay = undefined;
    this.#asked = { count: 0, at: 0 };
    if (this.#users === 1) void this.#renew(held);
    const end = async (failure: FailedRecovery | undefined) =>
      this.#inTurn.run(() => this.#end(failure));
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

  async #end(failure: FailedRecovery | undefined): Promise<void> {
    this.#users -= 1;
    if (failure) this.#failures.set(failure.uid, failure);
    const held = this.#held;
    if (!held) return;
    if (this.#users > 0) {
      // The others know of it at once.
      const answer = failure ? await answerOf(held.lease.hold()) : undefined;
      if (answer?.ok && answer.value) this.#failures.clear();
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
    if (first.value.length > 0) {
      const settled = await settle();
      if (!settled.isSettled) {
        const name = first.value.map((slot) => slot.name).join(', ');
        onMessage(`Lease ${name} is not released: the journal is not settled: ${settled.why}`);
        return;
      }
    }
    await this.#inTurn.run(async () => {
      if (this.#users > 0) return;
      const now = await answerOf(mine());
      if (!now.ok) return;
      for (const slot of now.value) {
        const answer = await answerOf(this.#heldFrom(slot).lease.release());
        if (!answer.ok) return;
        if (answer.value) this.#failures.clear();
        onMessage(`Lease ${slot.name}: released, no step uses it`);
      }
      this.#mayHoldUnused = false;
    });
  }
}

const WITHOUT_LEASES: NotPermitted = {
  reason: 'RecoveryPolicyMissing',
  name: 'no controller has created the Leases for it yet',
};

function unreadable(answer: StoreAnswer<unknown> & { readonly ok: false }): NotPermitted {
  const name = `the agent cannot list the Leases for it (${answer.error.reason})`;
  return { reason: 'RecoveryPolicyMissing', name };
}

function allTaken(slots: number): NotPermitted {
  const name = slots === 1 ? '1 node is in recovery' : `${slots} nodes are in recovery`;
  return { reason: 'NoRecoverySlot', name };
}

function delayFor({ reason, name }: NotPermitted, againMs: number): StepDelay {
  return { notNow: { reason, name }, againMs: Math.max(againMs, 1) };
}

/** Agents that try in the same order get in each other's way. */
function shuffled<T>(list: readonly T[]): readonly T[] {
  return list
    .map((value) => ({ value, order: Math.random() }))
    .toSorted((left, right) => left.order - right.order)
    .map(({ value }) => value);
}
