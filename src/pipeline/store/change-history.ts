import type { KindName } from '../api/kinds.ts';
import { BOOKMARK_MS, HISTORY_CHARACTERS_MAX, HISTORY_EVENTS_MAX } from './limits.ts';
import type { ObjectEvent, StoredObject, StoreEvent, WatchOptions } from './store.ts';
import { StoreError } from './store-error.ts';

/** One change of a store. Objects are texts, so that no watcher can alter them for the next one. */
export interface Change {
  readonly version: number;
  readonly type: ObjectEvent['type'];
  readonly kind: KindName;
  readonly text: string;
  /** The object before a modification: a watch with a selector needs both. */
  readonly before?: string | undefined;
}

/**
 * The last changes of a store, for all watches. A watch only has a position in it, so a slow one takes
 * no memory: once its position is dropped it gets `Expired`, and its client lists again.
 */
export class ChangeHistory {
  readonly #bookmarkMs: number;
  readonly #changes: Change[] = [];
  #characters = 0;
  /** All changes after this version are here. */
  #dropped: number;
  #newest: number;
  #isClosed = false;
  readonly #waiting = new Set<() => void>();

  constructor(version: number, bookmarkMs = BOOKMARK_MS) {
    this.#bookmarkMs = bookmarkMs;
    this.#dropped = version;
    this.#newest = version;
  }

  add(changes: readonly Change[]): void {
    for (const change of changes) {
      this.#changes.push(change);
      this.#characters += sizeOf(change);
      this.#newest = change.version;
    }
    this.#dropOldest();
    this.#wakeAll();
  }

  close(): void {
    this.#isClosed = true;
    this.#wakeAll();
  }

  async *watch(
    kind: KindName,
    { resourceVersion: from, stop }: WatchOptions,
    isSelected?: (object: StoredObject) => boolean,
  ): AsyncGenerator<StoreEvent> {
    // 4711
    const given = /^\d{1,15}$/.test(from) ? Number(from) : Number.NaN;
    // A version that this store never gave out is one of another store.
    if (!(given <= this.#newest)) throw expired(from);
    let seen = given;
    let sent = given;
    let sentMs = performance.now();
    while (!stop.aborted && !this.#isClosed) {
      if (seen < this.#dropped) throw expired(from);
      const next = this.#after(seen, kind);
      seen = next?.version ?? this.#newest;
      const event = next ? eventOf(next, isSelected) : this.#bookmark(sent, sentMs);
      if (event) {
        sent = seen;
        sentMs = performance.now();
        yield event;
      } else if (!next) await this.#more(stop);
    }
  }

  /** Due when a watch has skipped changes of others and sent nothing for a while. */
  #bookmark(sent: number, sentMs: number): StoreEvent | undefined {
    const isDue = sent < this.#newest && performance.now() - sentMs >= this.#bookmarkMs;
    return isDue ? { type: 'BOOKMARK', resourceVersion: String(this.#newest) } : undefined;
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

  /** Versions have no gaps, so the position of one follows from the version of the first. */
  #after(version: number, kind: KindName): Change | undefined {
    const first = this.#changes[0]?.version ?? 0;
    for (let at = Math.max(version + 1 - first, 0); at < this.#changes.length; at += 1) {
      const change = this.#changes[at];
      if (change?.kind === kind) return change;
    }
    return undefined;
  }

  #dropOldest(): void {
    let count = 0;
    while (
      this.#changes.length - count > HISTORY_EVENTS_MAX ||
      (this.#characters > HISTORY_CHARACTERS_MAX && count < this.#changes.length)
    ) {
      const change = this.#changes[count];
      this.#characters -= change ? sizeOf(change) : 0;
      this.#dropped = change?.version ?? this.#dropped;
      count += 1;
    }
    if (count > 0) this.#changes.splice(0, count);
  }

  #wakeAll(): void {
    for (const wake of this.#waiting) wake();
  }
}

function sizeOf({ text, before = '' }: Change): number {
  return text.length + before.length;
}

/** What a change means for a selection; undefined when it concerns no selected object. */
function eventOf(
  { type, text, before }: Change,
  isSelected: ((object: StoredObject) => boolean) | undefined,
): ObjectEvent | undefined {
  const object = JSON.parse(text) as StoredObject;
  if (!isSelected) return { type, object };
  const is = isSelected(object);
  if (before === undefined) return is ? { type, object } : undefined;
  const was = isSelected(JSON.parse(before) as StoredObject);
  if (is) return { type: was ? type : 'ADDED', object };
  return was ? { type: 'DELETED', object } : undefined;
}

function expired(version: string): StoreError {
  return new StoreError(
    'Expired',
    `resourceVersion ${version} is too old or unknown; list again and watch from the version of the list`,
  );
}
