import { sleepUntilStopped } from '../../../pipeline/store/sleep-until-stopped.ts';

/** Lets callers through at a bounded rate, one after another. */
export class Pace {
  readonly #intervalMs: number;
  readonly #now: () => number;
  #nextMs = 0;
  #pausedUntilMs = 0;

  constructor(perSecond: number, now: () => number = () => performance.now()) {
    this.#intervalMs = 1_000 / perSecond;
    this.#now = now;
  }

  /** How long the server has asked to wait from now on. */
  get pausedMs(): number {
    return Math.max(this.#pausedUntilMs - this.#now(), 0);
  }

  pauseFor(ms: number): void {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, this.#now() + ms);
  }

  async turn(stop: AbortSignal): Promise<void> {
    const nowMs = this.#now();
    const atMs = Math.max(nowMs, this.#nextMs);
    this.#nextMs = atMs + this.#intervalMs;
    if (atMs > nowMs) await sleepUntilStopped(atMs - nowMs, stop);
  }
}
