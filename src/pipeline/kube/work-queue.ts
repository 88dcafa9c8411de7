import { STORE_WAIT_FIRST_MS } from '../store/limits.ts';
import { answerOf, longer, spread } from '../store/store-answer.ts';

interface WorkQueueOptions {
  /**
   * Brings the object with this key to its wanted state. It may resolve with the time after which to do
   * so again. When it rejects with a `StoreError` it is called again, after growing waits.
   */
  readonly work: (key: string) => Promise<number | undefined>;
  /** Keys that are worked on at once. */
  readonly concurrency: number;
  readonly stop: AbortSignal;
  readonly onError?: ((message: string) => void) | undefined;
}

class Item {
  isRunning = false;
  /** Added while it was worked on. */
  isAgain = false;
  failures = 0;
  waitMs = STORE_WAIT_FIRST_MS;
  timer: NodeJS.Timeout | undefined;
}

/** Keys of objects to work on: each once, never twice at a time, and a failed one after a wait. */
export class WorkQueue {
  readonly #options: WorkQueueOptions;
  readonly #items = new Map<string, Item>();
  readonly #queue = new Set<string>();
  #running = 0;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
    const onStop = () => {
      this.#queue.clear();
      for (const { timer } of this.#items.values()) clearTimeout(timer);
    };
    options.stop.addEventListener('abort', onStop, { once: true });
  }

  /** Keys that wait, are worked on or failed. */
  get size(): number {
    return this.#items.size;
  }

  /** A key that failed still has its wait: what was added will be seen after it. */
  add(key: string): void {
    if (this.#options.stop.aborted) return;
    const item = this.#items.get(key) ?? new Item();
    this.#items.set(key, item);
    if (item.isRunning) item.isAgain = true;
    else if (item.failures === 0) this.#enqueue(key, item);
  }

  #enqueue(key: string, item: Item): void {
    clearTimeout(item.timer);
    this.#queue.add(key);
    this.#startNext();
  }

  #startNext(): void {
    for (const key of this.#queue) {
      if (this.#running >= this.#options.concurrency) return;
      this.#queue.delete(key);
      const item = this.#items.get(key);
      if (item) void this.#run(key, item);
    }
  }

  async #run(key: string, item: Item): Promise<void> {
    this.#running += 1;
    Object.assign(item, { isRunning: true, isAgain: false });
    const answer = await answerOf(this.#options.work(key));
    this.#running -= 1;
    item.isRunning = false;
    if (!answer.ok) this.#options.onError?.(`${key}: ${answer.error.message}`);
    if (answer.ok) {
      Object.assign(item, { failures: 0, waitMs: STORE_WAIT_FIRST_MS });
      this.#again(key, item, item.isAgain ? 0 : answer.value);
    } else {
      item.failures += 1;
      this.#again(key, item, spread(item.waitMs, answer.error.retryAfterMs));
      item.waitMs = longer(item.waitMs);
    }
    this.#startNext();
  }

  #again(key: string, item: Item, afterMs: number | undefined): void {
    if (this.#options.stop.aborted || afterMs === undefined) this.#items.delete(key);
    else if (afterMs === 0) this.#enqueue(key, item);
    else item.timer = setTimeout(() => this.#enqueue(key, item), afterMs);
  }
}
