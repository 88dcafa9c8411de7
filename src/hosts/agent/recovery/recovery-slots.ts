import { Semaphore } from '../../../lib/std/semaphore.ts';
import type { FailedRecovery } from '../../../pipeline/api/recovery-policy.ts';
import type { KubeClient } from '../../../pipeline/kube/kube-client.ts';
import { decideRecovery, type NotPermitted } from '../../../pipeline/recovery/decide-recovery.ts';
import type { SeenPolicy } from '../../../pipeline/recovery/seen-policy.ts';
import type { StepDelay } from '../../../pipeline/steps/step-to-run.ts';
import { sleepUntilStopped } from '../../../pipeline/store/sleep-until-stopped.ts';
import { answerOf } from '../../../pipeline/store/store-answer.ts';
import type { nextAskMs } from './ask-again.ts';
import { decideUsableSlots, missing, type UsableSlots } from './decide-usable-slots.ts';
import { SLOT_RENEW_MS, TURN_AGAIN_MS } from './limits.ts';
import { OwnLeases, type OwnSlot } from './own-leases.ts';
import { SharedWait } from './shared-wait.ts';
import { type SlotLease, SlotLeases } from './slot-leases.ts';
import { UnusedSlots, type UnusedSlotsOptions } from './unused-slots.ts';

export interface RecoverySlotsOptions extends UnusedSlotsOptions {
  readonly client: KubeClient;
  /** The namespace of the slot Leases. */
  readonly namespace: string;
  /** Called when a step has ended: another one of this node may begin. */
  readonly onTurnEnd?: () => void;
  readonly renewMs?: number;
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
  /** Aborted if this node no longer holds the Lease: no further action may begin. */
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

interface Held extends OwnSlot {
  readonly lost: AbortController;
  /** With which it was decided. */
  readonly policy: UsablePolicy;
}

interface SeenSlots {
  readonly policy: SeenPolicy;
  readonly usable: UsableSlots;
  readonly own?: SlotLease;
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
  readonly #own: OwnLeases;
  readonly #unused: UnusedSlots;
  /** Reads and writes follow one another. */
  readonly #inTurn = new Semaphore(1);
  readonly #wait: SharedWait;
  /** While a step repairs. */
  #held: Held | undefined;

  constructor(options: RecoverySlotsOptions) {
    this.#options = options;
    this.#leases = new SlotLeases(options);
    this.#own = new OwnLeases(this.#leases, options.onMessage);
    this.#unused = new UnusedSlots(options, {
      ...{ leases: this.#leases, own: this.#own, inTurn: this.#inTurn },
      isInUse: () => this.#held !== undefined,
    });
    this.#wait = new SharedWait(options.askAgainMs);
  }

  /** Releases what no step uses, until `stop`. */
  run(): Promise<void> {
    return this.#unused.run();
  }

  executorConnected(): void {
    this.#unused.executorConnected();
    this.#wait.end();
  }

  /**
   * A slot for a step that needs one, or why it has to wait. The policy is read for each decision. A step that
   * had begun to act before it was interrupted goes on with the slot that its node holds, whatever the
   * policy says by now.
   */
  async begin(request: SlotRequest): Promise<Permission | StepDelay> {
    const hasBegun = this.#own.mayHoldUnused && !this.#held && (await request.hasBegun());
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
    if (policy.state === 'unusable') return wait({ reason: policy.reason, name: policy.why });
    if (!needsSlot(policy)) return { policy };
    if (this.#held) return OTHER_REPAIRS;
    const first = decideRecovery({ policy, slotFailures: [], createdAt, now: this.#now() });
    if (!first.permitted && !this.#own.mayHoldUnused) return wait(first);
    const { own, usable } = await this.#look(async () => policy, createdAt);
    const goesOn = own && hasBegun ? await this.#own.take([own]) : undefined;
    if (goesOn) return 'denied' in goesOn ? wait(goesOn.denied) : this.#permission(goesOn, policy);
    if (!usable.permitted) return wait(usable);
    const taken = await this.#own.take(usable.slots);
    if (taken && 'denied' in taken) return wait(taken.denied);
    // Until the slot was taken a window may have closed, a repair failed, or a person forbidden it.
    const now = await this.#look(() => this.#leases.policy(), createdAt);
    const isSame = now.policy.state === 'usable' && now.policy.generation === policy.generation;
    const isUsable =
      now.usable.permitted && now.usable.slots.some(({ name }) => name === taken?.name);
    if (taken && isSame && isUsable) return this.#permission(taken, policy);
    // A slot that the node held before may be that of an action under way.
    if (taken && taken.name === own?.name) this.#own.mayHoldUnused = true;
    else if (taken) await this.#own.release(taken);
    if (!isSame) return undefined;
    return wait(now.usable.permitted ? CHANGED : now.usable);
  }

  /**
   * The slots that may be used now, and one that this node holds. The Leases are read first: the controller
   * deletes one after its failures are in the policy.
   */
  async #look(
    readPolicy: () => Promise<SeenPolicy>,
    createdAt: string | undefined,
  ): Promise<SeenSlots> {
    const { nodeName } = this.#options;
    const listed = await answerOf(this.#leases.list());
    const policy = await readPolicy();
    if (!listed.ok) {
      const why = `the agent cannot list the Leases for it (${listed.error.reason})`;
      return { policy, usable: { permitted: false, ...missing(why) } };
    }
    const slots = listed.value;
    const { failures } = this.#own;
    const seen = { policy, slots, failures, nodeName, createdAt, now: this.#now() };
    const own = slots.find(({ holder }) => holder === nodeName);
    return { policy, usable: decideUsableSlots(seen), ...(own ? { own } : {}) };
  }

  #now(): Date {
    return this.#options.now?.() ?? new Date();
  }

  #permission(slot: OwnSlot, policy: UsablePolicy): Permission {
    const held = { ...slot, policy, lost: new AbortController() };
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
        const answer = await this.#own.hold(held.lease);
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
      if (failure) this.#own.addFailure(failure);
      if (!isOver) this.#unused.stepIsUnsettled();
      if (this.#unused.isSettled) await this.#own.release(held);
      // The others know of it at once.
      else if (failure) await this.#own.hold(held.lease);
      // The slot is not ours any more.
      if (this.#own.failures.length > 0) this.#own.mayHoldUnused = true;
      this.#held = undefined;
    });
    this.#options.onTurnEnd?.();
  }

  /** An agent that stops leaves it to the next one, whose step goes on with the slot. */
  async #isSettled(): Promise<boolean> {
    const { stop, settle } = this.#options;
    return !stop.aborted && (await settle()).isSettled;
  }
}
