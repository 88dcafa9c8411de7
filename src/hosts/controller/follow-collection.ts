import { collectionAt } from '../../pipeline/kube/collection.ts';
import type { Informer } from '../../pipeline/kube/informer.ts';
import type { ControllerContext, FollowedCollection } from './controller-context.ts';
import { UNSYNCED_MS } from './limits.ts';

/** Follows a collection while this process leads. */
export function followCollectionAt<D>(
  path: string,
  informer: Informer<D>,
  { client, stop, onMessage, collections }: ControllerContext,
): Promise<void> {
  collections?.set(path, { informer, sinceMs: performance.now() });
  return informer.run(collectionAt(client, path), { stop, onError: onMessage });
}

/** Parts wait for their collections, so a leader that cannot list one does nothing with it. */
export function unsyncedReason(
  collections: ReadonlyMap<string, FollowedCollection>,
  nowMs: number,
): string | undefined {
  const paths = [...collections].flatMap(([path, { informer, sinceMs }]) =>
    informer.isSynced || nowMs - sinceMs < UNSYNCED_MS ? [] : [path],
  );
  if (paths.length === 0) return undefined;
  return `the leader cannot list ${paths.join(', ')}: see its log`;
}
