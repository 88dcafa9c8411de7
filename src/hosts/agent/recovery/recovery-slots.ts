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
import { isTemporary } from '../../../pipeline/store/store-error.ts';
import type { nextAskMs } from './ask-again.ts';
import { decideUsableSlots, missing, type UsableSlots } from './decide-usable-slots.ts';
import { LATE_WRITE_MS, SLOT_RENEW_MS, TURN_AGAIN_MS, UNUSED_MS } from './limits.ts';
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
  /** Called when a step has ended: another one of this node may begin. */
  readonly onTurnEnd?: () => void;
  readonly renewMs?: number;
  readonly unusedMs?: number;
  readonly lateWriteMs?: number;
  readonly askAgainMs?: typeof nextAskMs;
  readonly now?: () => Date;
}

export interface SlotRequest {
  /** When the Diagnosis was created. */
  readonly createdAt?: string | undefined;
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
  /** Otherwise an action of it may be under way, or be left to do. */
  readonly hasSucceeded: boolean;
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
  /** With which it was decided. */
  readonly policy: UsablePolicy;
}

interface SeenSlots {
  readonly usable: UsableSlots;
  readonly own?: SlotLease;
}

interface Denied {
  readonly denied: NotPermitted;
}

const CHANGED: NotPermitted = {
  reason: 'NoRecoverySlot',
  name: 'The Leases for recovery have changed meanwhile; the agent tries again',
};

/** It has no place among the running Diagnoses meanwhile. */
const OTHER_REPAIRS: StepDelay = {
  notNow: {
    reason: 'NoRecoverySlot',
    name: 'Another Diagnosis is repairing this node, and only one may at a time',
  },
  againMs: TURN_AGAIN_MS,
};

/** Undefined: to be decided again, because the policy has changed. */
type Decision = Permission | StepDelay | undefined;

/**
 * The slot of this node: one of its steps repairs at a time, and only while the node holds a slot. What a
 * lost answer or a crash left behind is corrected by `run`.
 */
export class RecoverySlots {
  readonly #options: RecoverySlotsOptions;
  readonly #leases: SlotLeases;
  /** Reads and writes follow one another. */
  readonly #inTurn = new Semaphore(1);
  readonly #wait: SharedWait;
  /** While a step repairs. */
  #held: Held | undefined;
  /** Not written to a Lease yet. */
  readonly #failures = new Map<string, FailedRecovery>();
  /** This node may hold a slot that no step uses: after a start, a lost answer or a failed release. */
  #mayHoldUnused = true;
  #connections = 0;
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
    this.#connections += 1;
    this.#wait.end();
  }

  /**
   * A slot for a step that needs one, or why it has to wait. The policy is read for each decision. A step that had begun to act before it was interrupted goes on
   * with the slot that its node holds, whatever the policy says by now.
   */
  async begin(request: SlotRequest): Promise<Permission | StepDelay> {
    const hasBegun = this.#mayHoldUnused && !this.#held && (await request.hasBegun());
    for (;;) {
      const decision = await this.#inTurn.run(() => this.#decide(request, hasBegun));
      if (decision) return decision;
    }
  }

  async #decide(request: SlotRequest, hasBegun: boolean): Promise<Decision> {
    const { createdAt, needsSlot } = request;
    if (this.#held && needsSlot(this.#held.policy)) return OTHER_REPAIRS;
    const waiting = hasBegun ? undefined : this.#wait.current(request, this.#now());
    if (waiting) return waiting;
    const policy = await this.#leases.policy();
    const wait = (why: Parameters<SharedWait['begin']>[1]) =>
      this.#wait.begin(policy, why, this.#now());
    if (policy.state === 'unusable') return wait(missing(policy.why));
    if (!needsSlot(policy)) return { policy };
    if (this.#held) return OTHER_REPAIRS;
    const first = decideRecovery({ policy, slotFailures: [], createdAt, now: this.#now() });
    if (!first.permitted && !this.#mayHoldUnused) return wait(first);
    const { own, usable } = await this.#look(policy, createdAt);
    const goesOn = own && hasBegun ? await this.#take([own], policy) : undefined;
    if (goesOn) return 'denied' in goesOn ? wait(goesOn.denied) : this.#permission(goesOn);
    if (!usable.permitted) return wait(usable);
    const taken = await this.#take(shuffled(usable.slots), policy);
    if (taken && 'denied' in taken) return wait(taken.denied);
    // Until the slot was taken a window may have closed, a repair failed, or a person forbidden it.
    const confirmed = await this.#leases.policy();
    const { usable: now } = await this.#look(confirmed, createdAt);
    const isSame = confirmed.state === 'usable' && confirmed.generation === policy.generation;
    const isUsable = now.permitted && now.slots.some(({ name }) => name === taken?.name);
    if (taken && isSame && isUsable) return this.#permission(taken);
    if (taken && taken.name === own?.name) this.#mayHoldUnused = true;
    else if (taken) await this.#release(taken);
    if (!isSame) return undefined;
    return wait(now.permitted ? CHANGED : now);
  }

  /** The slots that may be used now, and one that this node holds. */
  async #look(policy: SeenPolicy, createdAt: string | undefined): Promise<SeenSlots> {
    const { nodeName } = this.#options;
    const listed = await answerOf(this.#leases.list());
    if (!listed.ok) {
      const why = `the agent cannot list the Leases for it (${listed.error.reason})`;
      return { usable: { permitted: false, ...missing(why) } };
    }
    const slots = listed.value;
    const failures = this.#failures.values();
    const seen = { policy, slots, failures, nodeName, createdAt, now: this.#now() };
    const own = slots.find(({ holder }) => holder === nodeName);
    return { usable: decideUsableSlots(seen), ...(own ? { own } : {}) };
  }

  /** Releases what no step uses, until `stop`. */
  async run(): Promise<void> {
    const { stop, unusedMs = UNUSED_MS } = this.#options;
    while (!stop.aborted) {
      const connections = this.#connections;
      await sleepUntilStopped(unusedMs * (0.75 + Math.random() / 2), stop);
      // A step of an executor that has just connected goes on first.
      if (connections !== this.#connections) continue;
      if (!stop.aborted && this.#mayHoldUnused && !this.#held) await this.#releaseUnused();
    }
  }

  #now(): Date {
    return this.#options.now?.() ?? new Date();
  }

  /** One of these slots, if this node gets one, or why its agent cannot write them. */
  async #take(
    slots: readonly SlotLease[],
    policy: UsablePolicy,
  ): Promise<Held | Denied | undefined> {
    for (const slot of slots) {
      const lease = this.#lease(slot);
      const answer = await this.#hold(lease);
      if (!answer.ok) {
        const { error } = answer;
        if (isTemporary(error)) {
          // It may have happened, or happen later.
          this.#unansweredAt = performance.now();
          this.#mayHoldUnused = true;
        }
        this.#options.onMessage(`Lease ${slot.name}: ${error.message}`);
        const name = `The agent of this node cannot take Lease ${slot.name} (${error.reason})`;
        return { denied: { reason: 'NoRecoverySlot', name } };
      }
      if (!answer.value) continue;
      return { name: slot.name, lease, lost: new AbortController(), policy };
    }
    return undefined;
  }

  /** Acquires or renews it. Its write adds the failures. */
  async #hold(lease: Lease): Promise<StoreAnswer<boolean>> {
    const answer = await answerOf(lease.hold());
    if (answer.ok && answer.value) this.#failures.clear();
    return answer;
  }

  #lease(slot: SlotLease): Lease {
    return this.#leases.lease(slot, () => [...this.#failures.values()]);
  }

  #permission(held: Held): Permission {
    this.#held = held;
    this.#wait.end();
    void this.#renew(held);
    const end = async (ending: StepEnd) => this.#end(held, ending);
    return { policy: held.policy, turn: { lease: held.name, lost: held.lost.signal, end } };
  }

  /** An action that has begun is finished, whatever becomes of the renewal. */
  async #renew(held: Held): Promise<void> {
    const { renewMs = SLOT_RENEW_MS, stop, onMessage } = this.#options;
    const isHeld = () => this.#held === held;
    while (isHeld()) {
      await sleepUntilStopped(renewMs * (0.9 + Math.random() * 0.2), stop, { ref: false });
      if (stop.aborted) return;
      await this.#inTurn.run(async () => {
        if (!isHeld() || held.lost.signal.aborted) return;
        const answer = await this.#hold(held.lease);
        if (!answer.ok) onMessage(`Lease ${held.name}: ${answer.error.message}`);
        else if (!answer.value && (await this.#isLost(held))) this.#lose(held);
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

  async #end(held: Held, { failure, isAnswered, hasSucceeded }: StepEnd): Promise<void> {
    const isOver = hasSucceeded || (isAnswered && (await this.#isSettled()));
    await this.#inTurn.run(async () => {
      if (failure) this.#failures.set(failure.uid, failure);
      if (!isOver) this.#unsettledSteps += 1;
      if (this.#unsettledSteps === 0) await this.#release(held);
      else {
        this.#mayHoldUnused = true;
        // The others know of it at once.
        if (failure) await this.#hold(held.lease);
      }
      // The slot is not ours any more.
      if (this.#failures.size > 0) this.#mayHoldUnused = true;
      this.#held = undefined;
    });
    this.#options.onTurnEnd?.();
  }

  /** An agent that stops leaves it to the next one, whose step goes on with the slot. */
  async #isSettled(): Promise<boolean> {
    const { stop, settle } = this.#options;
    return !stop.aborted && (await settle()).isSettled;
  }

  async #release({ name, lease }: Pick<Held, 'name' | 'lease'>): Promise<boolean> {
    const answer = await answerOf(lease.release());
    if (answer.ok) {
      if (answer.value) this.#failures.clear();
      return true;
    }
    this.#mayHoldUnused = true;
    this.#options.onMessage(`Lease ${name}: ${answer.error.message}`);
    return false;
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
        await this.#inTurn.run(() => this.#renewUnused(first.value));
        return;
      }
    }
    // Not those that have ended meanwhile. Without a slot a person has released it.
    this.#unsettledSteps -= unsettledSteps;
    await this.#inTurn.run(async () => {
      if (this.#held || this.#unsettledSteps > 0) return;
      const listedAt = performance.now();
      const now = await answerOf(mine());
      if (!now.ok) return;
      for (const slot of now.value) {
        const isReleased = await this.#release({ name: slot.name, lease: this.#lease(slot) });
        if (!isReleased) return;
        onMessage(`Lease ${slot.name}: released, no step uses it`);
      }
      if (this.#failures.size > 0) await this.#writeFailures();
      if (this.#failures.size > 0) return;
      const { lateWriteMs = LATE_WRITE_MS } = this.#options;
      this.#mayHoldUnused = listedAt - this.#unansweredAt < lateWriteMs;
    });
  }

  /** An action may be under way: the controller frees a slot that nobody renews if the Node is deleted. */
  async #renewUnused(slots: readonly SlotLease[]): Promise<void> {
    if (this.#held) return;
    for (const slot of slots) await this.#hold(this.#lease(slot));
  }

  /** Into a free Lease: the failed step has lost its own. */
  async #writeFailures(): Promise<void> {
    const listed = await answerOf(this.#leases.list());
    const slots = listed.ok ? listed.value : [];
    for (const slot of shuffled(slots.filter(({ holder }) => holder === ''))) {
      const added = this.#leases.addFailures(slot, [...this.#failures.values()]);
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
