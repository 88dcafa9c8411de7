/** The part of an AbortSignal that is needed: this module knows no platform. */
interface Stop {
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** Lets a number of callers run at once; the others wait, first come, first served. */
export class Semaphore {
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor(most: number) {
    this.#free = most;
  }

  /** Throws the reason of `stop` when it is stopped before its turn. */
  async take<T>(use: () => Promise<T>, stop?: Stop): Promise<T> {
    stop?.throwIfAborted();
    if (this.#free > 0) this.#free -= 1;
    else await this.#wait(stop);
    try {
      return await use();
    } finally {
      // Handed on to the next as it is: nobody can slip in between.
      const [next] = this.#waiting;
      if (next) next();
      else this.#free += 1;
    }
  }

  #wait(stop: Stop | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = () => {
      this.#waiting.delete(come);
      reject(stop?.reason);
    };
    const come = () => {
      this.#waiting.delete(come);
      stop?.removeEventListener('abort', leave);
      resolve();
    };
    this.#waiting.add(come);
    stop?.addEventListener('abort', leave);
    return promise;
  }
}
