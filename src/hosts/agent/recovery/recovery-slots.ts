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
import { LATE_WRITE_MS, SLOT_RENEW_MS, TURN_AGAIN_MS, TURN_MS, UNUSED_MS } from './limits.ts';
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
  readonly turnMs?: number;
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
  readonly stop: AbortSignal;
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
  /** Resolves when the step has ended. */
  readonly ended: PromiseWithResolvers<void>;
}

/** Undefined: to be decided again when the step has ended that repairs now, or else at once. */
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
   * A slot for a step that needs one, or why it has to wait. The policy is read for each decision, also
   * when another step of this node has ended. A step that had begun to act before it was interrupted goes on
   * with the slot that its node holds, whatever the policy says by now.
   */
  async begin(request: SlotRequest): Promise<Permission | StepDelay> {
    const until = performance.now() + (this.#options.turnMs ?? TURN_MS);
    for (;;) {
      const decision = await this.#inTurn.run(() => this.#decide(request));
      if (decision) return decision;
      const leftMs = until - performance.now();
      if (leftMs <= 0 || request.stop.aborted) {
        const name = 'Another Diagnosis is repairing this node: only one repairs at a time';
        return { notNow: { reason: 'NoRecoverySlot', name }, againMs: TURN_AGAIN_MS };
      }
      await Promise.race([this.#held?.ended.promise, sleepUntilStopped(leftMs, request.stop)]);
    }
  }

  async #decide({ createdAt, needsSlot, hasBegun }: SlotRequest): Promise<Decision> {
    if (this.#held && needsSlot(this.#held.policy)) return undefined;
    const waiting = this.#wait.current();
    if (waiting?.policy.state === 'unusable' || (waiting && needsSlot(waiting.policy))) {
      return waiting.delay;
    }
    const policy = await this.#leases.policy();
    const now = this.#now();
    const wait = (why: Parameters<SharedWait['begin']>[1]) => this.#wait.begin(policy, why, now);
    if (policy.state === 'unusable') return wait({ reason: policy.reason, name: policy.why });
    if (!needsSlot(policy)) return { policy };
    if (this.#held) return undefined;
    const first = decideRecovery({ policy, slotFailures: [], createdAt, now });
    if (!first.permitted && !this.#mayHoldUnused) return wait(first);
    const listed = await answerOf(this.#leases.list());
    if (!listed.ok) {
      return wait(missing(`the agent cannot list the Leases for it (${listed.error.reason})`));
    }
    const slots = listed.value;
    const { nodeName } = this.#options;
    const slotFailures = [...slots.flatMap((slot) => slot.failures), ...this.#failures.values()];
    const held = slots.filter(({ holder }) => holder !== '');
    const heldSlots = held.filter(({ holder }) => holder !== nodeName).map(({ number }) => number);
    const decided = { slotFailures, heldSlots, createdAt, now };
    const decision = decideRecovery({ ...decided, policy });
    const mine = held.filter(({ holder }) => holder === nodeName);
    if (!decision.permitted) {
      const goesOn = mine.length > 0 && (await hasBegun());
      const taken = goesOn ? await this.#take(mine, policy) : undefined;
      return taken ? this.#permission(taken) : wait(decision);
    }
    if (slots.length === 0) return wait(missing('no controller has created the Leases for it yet'));
    const usable = slots.filter(({ number }) => number < decision.slots);
    const own = usable.filter(({ holder }) => holder === nodeName);
    const free = usable.filter(({ holder }) => holder === '');
    const taken = await this.#take(own.length > 0 ? own : shuffled(free), policy);
    if (!taken) return wait(allTaken(Math.max(held.length, decision.slots)));
    // Before the slot was taken somebody may have forbidden it, or made it one that is not to be used.
    const confirmed = await this.#leases.policy();
    const isSame = confirmed.state === 'usable' && confirmed.generation === policy.generation;
    if (isSame) return this.#permission(taken);
    await this.#release(taken);
    return undefined;
  }

  /** Releases what no step uses, until `stop`. */
  async run(): Promise<void> {
    const { stop, unusedMs = UNUSED_MS } = this.#options;
    while (!stop.aborted) {
      await sleepUntilStopped(unusedMs * (0.75 + Math.random() / 2), stop);
      if (!stop.aborted && this.#mayHoldUnused && !this.#held) await this.#releaseUnused();
    }
  }

  #now(): Date {
    return this.#options.now?.() ?? new Date();
  }

  /** One of these slots, if this node gets one. */
  async #take(slots: readonly SlotLease[], policy: UsablePolicy): Promise<Held | undefined> {
    for (const slot of slots) {
      const lease = this.#lease(slot);
      const answer = await answerOf(lease.hold());
      if (!answer.ok) {
        // It may have happened, or happen later.
        this.#unansweredAt = performance.now();
        this.#mayHoldUnused = true;
        this.#options.onMessage(`Lease ${slot.name}: ${answer.error.message}`);
        return undefined;
      }
      if (!answer.value) continue;
      this.#failures.clear();
      const ended = Promise.withResolvers<void>();
      return { name: slot.name, lease, lost: new AbortController(), policy, ended };
    }
    return undefined;
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

  async #end(held: Held, { failure, isAnswered, hasSucceeded }: StepEnd): Promise<void> {
    const isOver = hasSucceeded || (isAnswered && (await this.#isSettled()));
    await this.#inTurn.run(async () => {
      if (failure) this.#failures.set(failure.uid, failure);
      if (!isOver) this.#unsettledSteps += 1;
      if (this.#unsettledSteps === 0) await this.#release(held);
      else {
        this.#mayHoldUnused = true;
        // The others know of it at once.
        const answer = failure ? await answerOf(held.lease.hold()) : undefined;
        if (answer?.ok && answer.value) this.#failures.clear();
      }
      this.#held = undefined;
    });
    held.ended.resolve();
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
        onMessage(`Lease ${name}: not released: an action may still be running: ${settled.why}`);
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
      const { lateWriteMs = LATE_WRITE_MS } = this.#options;
      this.#mayHoldUnused = listedAt - this.#unansweredAt < lateWriteMs;
    });
  }
}

function missing(name: string): NotPermitted {
  return { reason: 'RecoveryPolicyMissing', name };
}

function allTaken(slots: number): NotPermitted {
  const count = slots === 1 ? '1 node is in recovery' : `${slots} nodes are in recovery`;
  return { reason: 'NoRecoverySlot', name: `${count}, and RecoveryPolicy default permits no more` };
}

/** Agents that try in the same order get in each other's way. */
function shuffled<T>(list: readonly T[]): readonly T[] {
  return list
    .map((value) => ({ value, order: Math.random() }))
    .toSorted((left, right) => left.order - right.order)
    .map(({ value }) => value);
}
