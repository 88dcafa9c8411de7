import {
  CHECK_AGAIN_MARGIN_MS,
  CHECK_CHARGED_MAX_MS,
  CHECK_GAP_MS,
  CHECK_INTERVAL_MS,
  CHECK_SAVED_MS,
  CHECK_SHARE,
} from './limits.ts';

/**
 * Decides when to check a node: at an interval, soon after a change, and when a verdict changes by
 * time alone. Checks use a small part of the time; what is not used is saved up to a limit. Times
 * are of a clock that never goes back.
 */
export class CheckSchedule {
  readonly #random: () => number;
  #isWanted = false;
  #dueMs: number;
  #earliestMs: number;
  #savedMs = CHECK_SAVED_MS;
  #savedAtMs: number;

  constructor(nowMs: number, random: () => number = Math.random) {
    this.#random = random;
    this.#dueMs = nowMs;
    this.#earliestMs = nowMs;
    this.#savedAtMs = nowMs;
  }

  /** Check as soon as it is permitted. */
  want(): void {
    this.#isWanted = true;
  }

  isDue(nowMs: number): boolean {
    if (nowMs < this.#earliestMs || this.#savedUntil(nowMs) <= 0) return false;
    return this.#isWanted || nowMs >= this.#dueMs;
  }

  begin(): void {
    this.#isWanted = false;
  }

  /** `againInMs`: after its begin the verdicts of this check change although the node does not. */
  end(begunMs: number, nowMs: number, againInMs = Number.POSITIVE_INFINITY): void {
    const chargedMs = Math.min(nowMs - begunMs, CHECK_CHARGED_MAX_MS);
    this.#savedMs = this.#savedUntil(nowMs) - chargedMs;
    this.#savedAtMs = nowMs;
    this.#earliestMs = nowMs + CHECK_GAP_MS;
    const { min, max } = CHECK_INTERVAL_MS;
    const intervalMs = min + this.#random() * (max - min);
    this.#dueMs = Math.min(nowMs + intervalMs, begunMs + againInMs + CHECK_AGAIN_MARGIN_MS);
  }

  #savedUntil(nowMs: number): number {
    const saved = this.#savedMs + (nowMs - this.#savedAtMs) * CHECK_SHARE;
    return Math.min(saved, CHECK_SAVED_MS);
  }
}
