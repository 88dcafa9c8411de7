import type { KindName } from '../api/kinds.ts';
import { HISTORY_CHARACTERS_MAX, HISTORY_EVENTS_MAX } from './limits.ts';
import { type StoredObject, StoreError, type StoreEvent } from './store.ts';

/** One change of a store, with the object as a text: nobody who gets it can spoil it for the next. */
export interface Change {
  readonly version: number;
  readonly type: StoreEvent['type'];
  readonly kind: KindName;
  readonly text: string;
}

/**
 * The last changes of a store, for all who watch it. Each has only a place in it, so none of them can
 * make it grow by being slow: whoever falls out at the end is told `Gone`, and lists again.
 */
export class ChangeHistory {
  readonly #changes: Change[] = [];
  #characters = 0;
  /** Changes after this one are all here. */
  #forgotten: number;
  #newest: number;
  #isClosed = false;
  readonly #waiting = new Set<() => void>();

  constructor(version: number) {
    this.#forgotten = version;
    this.#newest = version;
  }

  add(changes: readonly Change[]): void {
    for (const change of changes) {
      this.#changes.push(change);
      this.#characters += change.text.length;
      this.#newest = change.version;
    }
    this.#forget();
    this.#wakeAll();
  }

  close(): void {
    this.#isClosed = true;
    this.#wakeAll();
  }

  async *since(kind: KindName, from: string, stop: AbortSignal): AsyncGenerator<StoreEvent> {
    // 4711
    const given = /^\d{1,15}$/.test(from) ? Number(from) : Number.NaN;
    // One that we never gave away is of another store.
    if (!(given <= this.#newest)) throw gone(from);
    let seen = given;
    while (!stop.aborted && !this.#isClosed) {
      if (seen < this.#forgotten) throw gone(from);
      const next = this.#after(seen, kind);
      if (next) {
        seen = next.version;
        yield { type: next.type, object: JSON.parse(next.text) as StoredObject };
      } else {
        seen = this.#newest;
        await this.#more(stop);
      }
    }
  }

  async #more(stop: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = () => resolve();
    this.#waiting.add(wake);
    stop.addEventListener('abort', wake, { once: true });
    await promise;
    this.#waiting.delete(wake);
    stop.removeEventListener('abort', wake);
  }

  /** Numbers rise without gaps, so the place of one follows from the place of the first. */
  #after(version: number, kind: KindName): Change | undefined {
    const first = this.#changes[0]?.version ?? 0;
    for (let at = Math.max(version + 1 - first, 0); at < this.#changes.length; at += 1) {
      const change = this.#changes[at];
      if (change?.kind === kind) return change;
    }
    return undefined;
  }

  #forget(): void {
    let leave = 0;
    while (
      this.#changes.length - leave > HISTORY_EVENTS_MAX ||
      (this.#characters > HISTORY_CHARACTERS_MAX && leave < this.#changes.length)
    ) {
      const change = this.#changes[leave];
      this.#characters -= change?.text.length ?? 0;
      this.#forgotten = change?.version ?? this.#forgotten;
      leave += 1;
    }
    if (leave > 0) this.#changes.splice(0, leave);
  }

  #wakeAll(): void {
    for (const wake of this.#waiting) wake();
  }
}

function gone(version: string): StoreError {
  return new StoreError(
    'Gone',
    `changes since resourceVersion ${version} are no longer known; list again, and watch from there`,
  );
}
