import type { KindName } from '../api/kinds.ts';
import { STORE_WAIT_FIRST_MS, STORE_WAIT_MAX_MS } from './limits.ts';
import { sleepUntilStopped } from './sleep-until-stopped.ts';
import type { ObjectEvent, Selection, Store, StoredObject } from './store.ts';
import { answerOf, longer, spread } from './store-answer.ts';

export interface Follower {
  /** All objects, at the start and again whenever changes were missed. */
  readonly onList: (objects: AsyncIterable<StoredObject>) => Promise<void>;
  /** Every change since. */
  readonly onEvent: (event: ObjectEvent) => void;
  readonly onError?: ((message: string) => void) | undefined;
  readonly stop: AbortSignal;
}

/** Lists and watches a kind until `stop`. After an error it goes on where it was, if the store can. */
export async function follow(
  store: Store,
  kind: KindName,
  { onList, onEvent, onError, stop }: Follower,
  selection: Selection = {},
): Promise<void> {
  let from: string | undefined;
  const listAndWatch = async (): Promise<void> => {
    if (from === undefined) {
      const { objects, resourceVersion } = await store.each(kind, selection);
      await onList(objects);
      from = resourceVersion;
    }
    const options = { ...selection, resourceVersion: from, stop };
    for await (const event of store.watch(kind, options)) {
      const isBookmark = event.type === 'BOOKMARK';
      from = isBookmark ? event.resourceVersion : event.object.metadata.resourceVersion;
      if (!isBookmark) onEvent(event);
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
