import {
  decideRecovery,
  type NotPermitted,
  whyRefused,
} from '../../../pipeline/recovery/decide-recovery.ts';
import type { SeenPolicy } from '../../../pipeline/recovery/seen-policy.ts';
import type { StepDelay } from '../../../pipeline/steps/step-to-run.ts';
import { nextAskMs } from './ask-again.ts';
import { ASK_FORGET_MS } from './limits.ts';

interface Wait {
  /** With which it was decided. */
  readonly policy: SeenPolicy;
  readonly why: NotPermitted;
  readonly until: number;
}

interface WaitingStep {
  readonly createdAt?: string | undefined;
  readonly needsSlot: (policy: SeenPolicy & { readonly state: 'usable' }) => boolean;
}

/** The waiting steps of a node share one request: until it is repeated, each gets the same answer. */
export class SharedWait {
  readonly #askAgainMs: typeof nextAskMs;
  #last: Wait | undefined;
  #asked = { count: 0, at: 0 };

  constructor(askAgainMs = nextAskMs) {
    this.#askAgainMs = askAgainMs;
  }

  /** Undefined if a step has to ask for itself. */
  current({ createdAt, needsSlot }: WaitingStep, now: Date): StepDelay | undefined {
    const leftMs = (this.#last?.until ?? 0) - performance.now();
    if (!this.#last || leftMs <= 0) return undefined;
    const { policy, why } = this.#last;
    // Its own author may be one whom nobody has checked: it is refused, and does not wait with the others.
    const own = decideRecovery({ policy, slotFailures: [], createdAt, now });
    const isRefused = !own.permitted && whyRefused(own) !== undefined;
    const isAlike = policy.state === 'unusable' || needsSlot(policy);
    return isAlike && !isRefused ? delayFor(why, leftMs) : undefined;
  }

  begin(
    policy: SeenPolicy,
    why: NotPermitted & { readonly changesAt?: Date },
    now: Date,
  ): StepDelay {
    const at = performance.now();
    // A step that is refused does not wait. The next one is judged by the policy of its own moment.
    if (whyRefused(why) !== undefined) {
      this.#last = undefined;
      return delayFor(why, 0);
    }
    const isOld = at - this.#asked.at > ASK_FORGET_MS;
    const count = isOld ? 0 : this.#asked.count;
    this.#asked = { count: count + 1, at };
    const againMs = this.#askAgainMs(count, why.changesAt, now);
    this.#last = { policy, why, until: at + againMs };
    return delayFor(why, againMs);
  }

  end(): void {
    this.#last = undefined;
    this.#asked = { count: 0, at: 0 };
  }
}

function delayFor({ reason, name }: NotPermitted, againMs: number): StepDelay {
  return { notNow: { reason, name }, againMs: Math.max(againMs, 1) };
}
