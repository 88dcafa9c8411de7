import { fieldAt, textAt } from '../../lib/std/json.ts';
import type { Change, Collection } from '../store/follow.ts';
import type { KubeClient, KubeRequest } from './kube-client.ts';
import { listPages } from './list-pages.ts';

/** Any objects of an API server: "/api/v1/nodes". */
export function collectionAt(
  client: KubeClient,
  path: string,
  query: KubeRequest['query'] = {},
): Collection<unknown> {
  return {
    each: async () => {
      const { items, resourceVersion } = await listPages(client, path, query);
      return { objects: items, resourceVersion };
    },
    watch: (resourceVersion, stop) => watchAt(client, path, { ...query, resourceVersion }, stop),
  };
}

/** The changes of one watch, until it ends. */
export async function* watchAt(
  client: KubeClient,
  path: string,
  query: NonNullable<KubeRequest['query']>,
  stop: AbortSignal,
): AsyncGenerator<Change<unknown>> {
  for await (const event of client.watch(path, query, stop)) {
    const type = fieldAt(event, 'type');
    const object = fieldAt(event, 'object');
    if (type === 'BOOKMARK') {
      const resourceVersion = textAt(object, 'metadata', 'resourceVersion');
      if (resourceVersion !== undefined) yield { type, resourceVersion };
    } else if (type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED') {
      yield { type, object };
    }
    if (stop.aborted) return;
  }
}
