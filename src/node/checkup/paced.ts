import { PACED_REST_MS_MAX } from './limits.ts';

/** Runs an operation for at most a part of the time. In between, its last result counts. */
export class Paced<T> {
  readonly #share: number;
  readonly #nowMs: () => number;
  #last: { readonly result: T; readonly untilMs: number } | undefined;

  constructor(share: number, nowMs: () => number) {
    this.#share = share;
    this.#nowMs = nowMs;
  }

  async run(operation: () => Promise<T>): Promise<T> {
    const begunMs = this.#nowMs();
    if (this.#last && begunMs < this.#last.untilMs) return this.#last.result;
    const result = await operation();
    const endMs = this.#nowMs();
    const restMs = Math.min((endMs - begunMs) / this.#share, PACED_REST_MS_MAX);
    this.#last = { result, untilMs: endMs + restMs };
    return result;
  }
}
