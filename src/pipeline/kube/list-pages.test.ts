import { expect, test } from 'vitest';
import { StoreError } from '../store/store-error.ts';
import type { KubeClient, KubeRequest } from './kube-client.ts';
import { listPages } from './list-pages.ts';
import { ListExpiredError } from './status-error.ts';

type Query = NonNullable<KubeRequest['query']>;

/** A client whose pages are given by the query, and the queries that it got. */
function clientOf(page: (query: Query) => object) {
  const queries: Query[] = [];
  const request: KubeClient['request'] = async ({ query = {} }) => {
    queries.push(query);
    return page(query);
  };
  return { client: { request, watch: () => never(), close: () => {} }, queries };
}

async function* never(): AsyncGenerator<unknown> {}

async function all(items: AsyncIterable<unknown>): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  for await (const item of items) found.push(item);
  return found;
}

test('reads the first page at once and the others when they are needed', async () => {
  const { client, queries } = clientOf(({ continue: token }) =>
    token === undefined
      ? { metadata: { resourceVersion: '7', continue: 'next' }, items: ['a', 'b'] }
      : { metadata: { resourceVersion: '7' }, items: ['c'] },
  );
  const { items, resourceVersion } = await listPages(client, '/a', { labelSelector: 'x' });
  expect(resourceVersion).toBe('7');
  expect(queries).toEqual([{ labelSelector: 'x', limit: '100', continue: undefined }]);
  expect(await all(items)).toEqual(['a', 'b', 'c']);
  expect(queries[1]).toEqual({ labelSelector: 'x', limit: '100', continue: 'next' });
});

test('goes on with the token of the server when the list has expired', async () => {
  const { client } = clientOf(({ continue: token }) => {
    if (token === undefined)
      return { metadata: { resourceVersion: '7', continue: 'old' }, items: ['a'] };
    if (token === 'old') throw new ListExpiredError('too old', 'new');
    return { metadata: { resourceVersion: '9' }, items: ['b'] };
  });
  const { items, resourceVersion } = await listPages(client, '/a');
  expect(await all(items)).toEqual(['a', 'b']);
  // A watch from here misses no change of an object on an earlier page.
  expect(resourceVersion).toBe('7');
});

test('reads smaller pages when one is too large, and gives up when an object is', async () => {
  const limited = (max: number) =>
    clientOf(({ limit }) => {
      if (Number(limit) > max) throw new StoreError('RequestEntityTooLarge', 'too large');
      return { metadata: { resourceVersion: '7' }, items: [limit] };
    }).client;
  expect(await all((await listPages(limited(20), '/a')).items)).toEqual(['13']);
  expect(await all((await listPages(limited(1), '/a')).items)).toEqual(['1']);
  await expect(listPages(limited(0), '/a')).rejects.toThrow('too large');
});

test('rejects an answer that is no list', async () => {
  const { client } = clientOf(() => ({}));
  await expect(listPages(client, '/a')).rejects.toMatchObject({ reason: 'ServiceUnavailable' });
});
