import { afterEach, expect, test } from 'vitest';
import { SyntheticApiServer } from '../../../test/synthetic-api-server.ts';
import { fieldAt, textAt } from '../../lib/std/json.ts';
import { collectionAt } from './collection.ts';
import { Informer } from './informer.ts';

interface Pod {
  readonly node: string | undefined;
  readonly version: string;
  readonly seen: number;
}

const stops: AbortController[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop.abort();
});

const pathOf = (name: string) => `/api/v1/namespaces/default/pods/${name}`;

function put(api: SyntheticApiServer, name: string, node?: string): void {
  api.put(pathOf(name), { metadata: { name, namespace: 'default' }, spec: { node } });
}

async function informed(names: Readonly<Record<string, string>>) {
  const api = new SyntheticApiServer();
  for (const [name, node] of Object.entries(names)) put(api, name, node);
  const stop = new AbortController();
  stops.push(stop);
  const errors: string[] = [];
  const changes: string[] = [];
  let digests = 0;
  const pods = new Informer<Pod>({
    digest: (object, before) => {
      const version = textAt(object, 'metadata', 'resourceVersion') ?? '';
      if (before?.version === version) return before;
      digests += 1;
      if (fieldAt(object, 'spec', 'node') === 'ignored') return undefined;
      return { version, node: textAt(object, 'spec', 'node'), seen: digests };
    },
    indexes: { node: ({ node }) => node },
  });
  pods.onChange((key, now, before) => {
    changes.push(`${key}: ${before?.node ?? '-'} ${now?.node ?? '-'}`);
  });
  void pods.run(collectionAt(api, '/api/v1/pods'), {
    stop: stop.signal,
    onError: (message) => errors.push(message),
  });
  await pods.synced;
  return { api, pods, changes, errors };
}

test('knows all objects, by key and by the values of an index', async () => {
  const { api, pods, changes } = await informed({ a: 'web-1', b: 'web-1', c: 'web-2' });
  expect(pods.size).toBe(3);
  expect(pods.keysBy('node', 'web-1')).toEqual(['default/a', 'default/b']);
  changes.length = 0;
  put(api, 'a', 'web-2');
  put(api, 'd');
  api.remove(pathOf('b'));
  await expect.poll(() => changes).toHaveLength(3);
  expect(changes).toEqual(['default/a: web-1 web-2', 'default/d: - -', 'default/b: web-1 -']);
  expect(pods.keysBy('node', 'web-1')).toEqual([]);
  expect(pods.keysBy('node', 'web-2')).toEqual(['default/c', 'default/a']);
  expect(pods.get('default/d')?.node).toBeUndefined();
  put(api, 'd', 'web-1');
  await expect.poll(() => pods.keysBy('node', 'web-1')).toEqual(['default/d']);
});

test('an object that is of no interest any more is forgotten', async () => {
  const { api, pods } = await informed({ a: 'web-1', b: 'ignored' });
  expect([...pods.entries()].map(([key]) => key)).toEqual(['default/a']);
  put(api, 'a', 'ignored');
  await expect.poll(() => pods.size).toBe(0);
  expect(pods.keysBy('node', 'web-1')).toEqual([]);
});

test('goes on after a lost connection without a new list', async () => {
  const { api, pods, changes } = await informed({ a: 'web-1', b: 'web-1' });
  changes.length = 0;
  api.cut();
  api.remove(pathOf('b'));
  put(api, 'c', 'web-2');
  await expect.poll(() => changes).toEqual(['default/b: web-1 -', 'default/c: - web-2']);
  expect(pods.keysBy('node', 'web-1')).toEqual(['default/a']);
});

test('finds out what was deleted, changed and created while it could not watch', async () => {
  const { api, pods, changes, errors } = await informed({ a: 'web-1', b: 'web-1', c: 'web-1' });
  const unchanged = pods.get('default/a');
  changes.length = 0;
  api.isDown = true;
  api.cut();
  await expect.poll(() => errors).toContain('connection refused');
  api.remove(pathOf('b'));
  // Deleted and created again with the same name.
  api.remove(pathOf('c'));
  put(api, 'c', 'web-2');
  put(api, 'd', 'web-2');
  api.compact();
  api.isDown = false;
  await expect
    .poll(() => changes.toSorted())
    .toEqual(['default/b: web-1 -', 'default/c: web-1 web-2', 'default/d: - web-2']);
  expect(pods.keysBy('node', 'web-1')).toEqual(['default/a']);
  expect(pods.keysBy('node', 'web-2')).toEqual(['default/c', 'default/d']);
  expect(pods.get('default/a')).toBe(unchanged);
});

test('a stopped informer does not block its callers', async () => {
  const stop = new AbortController();
  stop.abort();
  const pods = new Informer({ digest: () => undefined });
  const running = pods.run(collectionAt(new SyntheticApiServer(), '/api/v1/pods'), {
    stop: stop.signal,
    onError: () => {},
  });
  await Promise.all([pods.synced, running]);
  expect(pods.isSynced).toBe(false);
});
