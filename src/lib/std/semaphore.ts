/** The needed part of an AbortSignal: this module depends on no platform. */
interface Stop {
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** Limits how many operations run at once; the others wait, first come, first served. */
export class Semaphore {
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor(permits: number) {
    this.#free = permits;
  }

  /** An operation that begins now does not wait. */
  get isFree(): boolean {
    return this.#free > 0;
  }

  /** Waits for a permit and runs an operation. Throws the reason of `stop` if it aborts first. */
  async run<T>(operation: () => Promise<T>, stop?: Stop): Promise<T> {
    stop?.throwIfAborted();
    if (this.#free > 0) this.#free -= 1;
    else await this.#wait(stop);
    try {
      return await operation();
    } finally {
      // The permit goes directly to the next waiting operation, so that no later one can take it.
      const [next] = this.#waiting;
      if (next) next();
      else this.#free += 1;
    }
  }

  #wait(stop: Stop | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = () => {
      this.#waiting.delete(enter);
      reject(stop?.reason);
    };
    const enter = () => {
      this.#waiting.delete(enter);
      stop?.removeEventListener('abort', leave);
      resolve();
    };
    this.#waiting.add(enter);
    stop?.addEventListener('abort', leave);
    return promise;
  }
}
