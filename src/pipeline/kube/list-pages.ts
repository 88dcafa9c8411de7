import { listAt, textAt } from '../../lib/std/json.ts';
import { answerOf } from '../store/store-answer.ts';
import { StoreError } from '../store/store-error.ts';
import type { KubeClient, KubeRequest } from './kube-client.ts';
import { PAGE_OBJECTS_MAX } from './limits.ts';
import { ListExpiredError } from './status-error.ts';

export interface ListedPages {
  /** Each object as it was at that version or later. */
  readonly items: AsyncIterable<unknown>;
  readonly resourceVersion: string;
}

/** Lists a collection page by page; the first page is read at once. */
export async function listPages(
  client: KubeClient,
  path: string,
  query: KubeRequest['query'] = {},
): Promise<ListedPages> {
  let limit = PAGE_OBJECTS_MAX;
  const read = async (token?: string): Promise<unknown> => {
    const request = { ...query, limit: String(limit), continue: token };
    const answer = await answerOf(client.request({ method: 'GET', path, query: request }));
    if (answer.ok) return answer.value;
    if (answer.error instanceof ListExpiredError) return read(answer.error.token);
    // Few but large objects: one of them always fits into an answer.
    if (answer.error.reason !== 'RequestEntityTooLarge' || limit === 1) throw answer.error;
    limit = Math.ceil(limit / 8);
    return read(token);
  };
  const first = await read();
  const resourceVersion = textAt(first, 'metadata', 'resourceVersion');
  if (resourceVersion === undefined) {
    throw new StoreError('ServiceUnavailable', `list ${path}: malformed answer`);
  }
  return { items: itemsFrom(first, read), resourceVersion };
}

async function* itemsFrom(
  first: unknown,
  read: (token: string) => Promise<unknown>,
): AsyncGenerator<unknown> {
  for (let page = first; ; ) {
    yield* listAt(page, 'items') ?? [];
    const token = textAt(page, 'metadata', 'continue');
    if (!token) return;
    page = await read(token);
  }
}
