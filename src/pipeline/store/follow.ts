import { textAt } from '../../lib/std/json.ts';
import type { KindName } from '../api/kinds.ts';
import { STORE_WAIT_FIRST_MS, STORE_WAIT_MAX_MS } from './limits.ts';
import { sleepUntilStopped } from './sleep-until-stopped.ts';
import type { ObjectEvent, Selection, Store, StoredObject } from './store.ts';
import { answerOf, longer, spread } from './store-answer.ts';

/** A change of an object, or a bookmark: a watch that goes on from its version misses nothing. */
export type Change<T> =
  | { readonly type: ObjectEvent['type']; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string };

/** Objects that can be listed and watched. */
export interface Collection<T> {
  readonly each: () => Promise<{
    readonly objects: AsyncIterable<T>;
    readonly resourceVersion: string;
  }>;
  /** Rejects with `Expired` when changes after that version were missed. */
  readonly watch: (resourceVersion: string, stop: AbortSignal) => AsyncIterable<Change<T>>;
}

export interface Follower<T = StoredObject> {
  /** All objects, at the start and again whenever changes were missed. */
  readonly onList: (objects: AsyncIterable<T>) => Promise<void>;
  /** Every change since. */
  readonly onEvent: (event: { readonly type: ObjectEvent['type']; readonly object: T }) => void;
  readonly onError?: ((message: string) => void) | undefined;
  readonly stop: AbortSignal;
}

/** Lists and watches a kind until `stop`. */
export function follow(
  store: Store,
  kind: KindName,
  follower: Follower,
  selection: Selection = {},
): Promise<void> {
  const collection = {
    each: () => store.each(kind, selection),
    watch: (resourceVersion: string, stop: AbortSignal) =>
      store.watch(kind, { ...selection, resourceVersion, stop }),
  };
  return followCollection(collection, follower);
}

/** Lists and watches until `stop`. After an error it goes on where it was, if the server can. */
export async function followCollection<T>(
  collection: Collection<T>,
  { onList, onEvent, onError, stop }: Follower<T>,
): Promise<void> {
  let from: string | undefined;
  const listAndWatch = async (): Promise<void> => {
    if (from === undefined) {
      const { objects, resourceVersion } = await collection.each();
      await onList(objects);
      from = resourceVersion;
    }
    for await (const event of collection.watch(from, stop)) {
      if (event.type === 'BOOKMARK') from = event.resourceVersion;
      else {
        from = textAt(event.object, 'metadata', 'resourceVersion') ?? from;
        onEvent(event);
      }
    }
  };
  for (let waitMs = STORE_WAIT_FIRST_MS; !stop.aborted; waitMs = longer(waitMs)) {
    const begun = performance.now();
    const answer = await answerOf(listAndWatch());
    const error = answer.ok ? undefined : answer.error;
    if (error?.reason === 'Expired') from = undefined;
    else if (error) onError?.(error.message);
    // A watch that ends by itself is no failure, unless it ends at once.
    const longMs = error ? STORE_WAIT_MAX_MS : waitMs;
    if (performance.now() - begun > longMs) waitMs = STORE_WAIT_FIRST_MS;
    await sleepUntilStopped(spread(waitMs, error?.retryAfterMs), stop);
  }
}
