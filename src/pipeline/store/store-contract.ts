import { describe, expect, test } from 'vitest';
import { API_VERSION, type KindName } from '../api/kinds.ts';
import { OBJECT_BYTES_MAX } from './limits.ts';
import type { NewObject, ObjectEvent, Selection, Store, StoredObject } from './store.ts';

/** A Diagnosis as a person applies it. */
export function newDiagnosis(name: string, spec: object = {}, namespace = 'default'): NewObject {
  return {
    apiVersion: API_VERSION,
    kind: 'Diagnosis',
    metadata: { name, namespace },
    spec: { operationSet: 'some', nodeName: 'node-1', ...spec },
  };
}

function newSet(name: string): NewObject {
  return {
    apiVersion: API_VERSION,
    kind: 'OperationSet',
    metadata: { name },
    spec: { adjacencyList: [{ to: [1] }, { operation: 'a' }] },
  };
}

const key = (name: string, namespace = 'default') =>
  ({ kind: 'Diagnosis', namespace, name }) as const;

const withMetadata = <T extends NewObject>(object: T, more: Partial<NewObject['metadata']>): T => ({
  ...object,
  metadata: { ...object.metadata, ...more },
});

/**
 * What every store promises, and an API server can keep: versions are compared for equality only,
 * a list may be older than the last write of somebody else, and a watch may end at any time.
 * `makeStore` gives an empty store with the namespaces "default" and "other".
 */
export function describeStore(which: string, makeStore: () => Promise<Store>): void {
  describeStoreWithoutFields(which, makeStore);
  describeFieldSelectors(which, makeStore);
}

/** What an API server before v1.31 promises too: it selects by no field of a custom resource. */
export function describeStoreWithoutFields(which: string, makeStore: () => Promise<Store>): void {
  describe(`${which} store: objects`, () => {
    test('adds metadata to a created object', async () => {
      const store = await makeStore();
      const created = await store.create({
        ...withMetadata(newDiagnosis('one'), { labels: { a: 'b' } }),
        status: { phase: 'Succeeded' },
      });
      expect(created).toMatchObject({
        kind: 'Diagnosis',
        metadata: { name: 'one', namespace: 'default', generation: 1, labels: { a: 'b' } },
      });
      expect(created.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
      expect(created.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      // A status is written by updateStatus only.
      expect(created.status).toBeUndefined();
      expect(await store.get(key('one'))).toEqual(created);
      expect(await store.get(key('one', 'other'))).toBeUndefined();
    });

    test('accepts a name once per namespace, and again after the object is deleted', async () => {
      const store = await makeStore();
      const first = await store.create(newDiagnosis('one'));
      const exists = { reason: 'AlreadyExists' };
      await expect(store.create(newDiagnosis('one'))).rejects.toMatchObject(exists);
      await store.create(newDiagnosis('one', {}, 'other'));
      await store.delete(key('one'));
      const second = await store.create(newDiagnosis('one'));
      expect(second.metadata.uid).not.toBe(first.metadata.uid);
      // A writer that still means the first object does not change the second one.
      const { resourceVersion } = second.metadata;
      const stale = { ...first, metadata: { ...first.metadata, resourceVersion } };
      await expect(store.updateStatus(stale)).rejects.toMatchObject({ reason: 'Conflict' });
    });

    test('requires a namespace exactly where the kind has one', async () => {
      const store = await makeStore();
      const set = newSet('some');
      await expect(store.create(withMetadata(set, { namespace: 'default' }))).rejects.toThrow(
        'OperationSet some has no namespace',
      );
      await expect(store.get({ kind: 'Diagnosis', name: 'one' })).rejects.toThrow(
        'Diagnosis one needs a namespace',
      );
      await store.create(set);
      expect(await store.get({ kind: 'OperationSet', name: 'some' })).toMatchObject(set);
    });

    test('increments the generation for changes of the spec only', async () => {
      const store = await makeStore();
      const created = await store.create(newDiagnosis('one'));
      const labelled = await store.update(withMetadata(created, { labels: { a: 'b' } }));
      expect(labelled.metadata).toMatchObject({ generation: 1, labels: { a: 'b' } });
      const running = await store.updateStatus({ ...labelled, status: { phase: 'Running' } });
      expect(running).toMatchObject({ metadata: { generation: 1 }, status: { phase: 'Running' } });
      const cancelled = await store.update({ ...running, spec: { ...created.spec, cancel: true } });
      expect(cancelled.metadata.generation).toBe(2);
      expect(cancelled.status).toEqual({ phase: 'Running' });
    });

    test('writes the status apart from the rest', async () => {
      const store = await makeStore();
      const created = await store.create(newDiagnosis('one'));
      const spec = { ...created.spec, suspend: true };
      const suspended = await store.update({ ...created, spec, status: { phase: 'Failed' } });
      expect(suspended.status).toBeUndefined();
      const running = await store.updateStatus({
        ...withMetadata(suspended, { labels: { x: 'y' } }),
        spec: { ...spec, operationSet: 'another' },
        status: { phase: 'Running' },
      });
      const { resourceVersion } = running.metadata;
      expect(running).toEqual({
        ...suspended,
        metadata: { ...suspended.metadata, resourceVersion },
        status: { phase: 'Running' },
      });
    });

    test('rejects a write with an outdated version', async () => {
      const store = await makeStore();
      const created = await store.create(newDiagnosis('one'));
      const running = await store.updateStatus({ ...created, status: { phase: 'Running' } });
      const { resourceVersion: outdated } = created.metadata;
      expect(running.metadata.resourceVersion).not.toBe(outdated);
      const suspended = { ...created, spec: { ...created.spec, suspend: true } };
      const failed = { ...created, status: { phase: 'Failed' } };
      const conflict = { reason: 'Conflict' };
      await expect(store.update(suspended)).rejects.toMatchObject(conflict);
      await expect(store.updateStatus(failed)).rejects.toMatchObject(conflict);
      await expect(store.delete(key('one'), outdated)).rejects.toMatchObject(conflict);
      expect(await store.get(key('one'))).toEqual(running);
      await store.delete(key('one'), running.metadata.resourceVersion);
      const missing = { reason: 'NotFound' };
      await expect(store.update(running)).rejects.toMatchObject(missing);
      await expect(store.delete(key('one'))).rejects.toMatchObject(missing);
    });

    test('accepts one of many concurrent writes of the same version', async () => {
      const store = await makeStore();
      const created = await store.create(newDiagnosis('one'));
      const writes = Array.from({ length: 20 }, (_, at) =>
        store.updateStatus({ ...created, status: { startTime: timeAt(at) } }),
      );
      const answers = await Promise.allSettled(writes);
      const written = answers.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
      expect(written).toEqual([await store.get(key('one'))]);
    });

    test('rejects an object that is too large for etcd', async () => {
      const store = await makeStore();
      const created = await store.create(newDiagnosis('one'));
      // In bytes, not in characters.
      const large = 'é'.repeat(OBJECT_BYTES_MAX / 2);
      const tooLarge = { reason: 'RequestEntityTooLarge' };
      const status = { operationResults: { large } };
      await expect(store.updateStatus({ ...created, status })).rejects.toMatchObject(tooLarge);
      const two = newDiagnosis('two', { parameters: { large } });
      await expect(store.create(two)).rejects.toMatchObject(tooLarge);
      expect(await store.get(key('one'))).toEqual(created);
      expect(await store.get(key('two'))).toBeUndefined();
    });

    test('does not share memory with its callers', async () => {
      const store = await makeStore();
      const created = await store.create(newDiagnosis('one'));
      (created.spec as Record<string, unknown>).operationSet = 'changed';
      expect((await store.get(key('one')))?.spec.operationSet).toBe('some');
    });

    test('stores finalizers and owners, and deletes an object when its last finalizer is removed', async () => {
      const store = await makeStore();
      const owner = await store.create(newDiagnosis('owner'));
      const { apiVersion, kind, metadata } = owner;
      const ownerReferences = [{ apiVersion, kind, name: 'owner', uid: metadata.uid }];
      const finalizers = ['diagnosis.kubediag.org/one', 'diagnosis.kubediag.org/two'];
      const created = await store.create(
        withMetadata(newDiagnosis('one'), { finalizers, ownerReferences }),
      );
      expect(created.metadata).toMatchObject({ finalizers, ownerReferences });
      await store.delete(key('one'));
      const deleted = await stored(store, 'one');
      expect(deleted.metadata.deletionTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      // A second deletion changes nothing.
      await store.delete(key('one'));
      expect(await stored(store, 'one')).toEqual(deleted);
      const left = await store.update(withMetadata(deleted, { finalizers: finalizers.slice(1) }));
      expect((await stored(store, 'one')).metadata.finalizers).toEqual(finalizers.slice(1));
      const events = eventsOf(store, left.metadata.resourceVersion, 1);
      await store.update(withMetadata(left, { finalizers: [] }));
      expect(await events).toEqual(['DELETED one']);
      expect(await store.get(key('one'))).toBeUndefined();
    });
  });

  describe(`${which} store: lists`, () => {
    test('lists a kind by name, in all namespaces or in one', async () => {
      const store = await makeStore();
      await store.create(newSet('some'));
      await store.create(newDiagnosis('b'));
      await store.create(newDiagnosis('c', {}, 'other'));
      await store.create(newDiagnosis('a'));
      expect(await namesIn(store, 'Diagnosis')).toEqual(['a', 'b', 'c']);
      expect(await namesIn(store, 'Diagnosis', { namespace: 'other' })).toEqual(['c']);
      expect(await namesIn(store, 'Trigger')).toEqual([]);
    });

    test('selects by labels', async () => {
      const store = await makeStore();
      const labels = { app: 'web', tier: 'front' };
      await store.create(withMetadata(newDiagnosis('a'), { labels }));
      await store.create(withMetadata(newDiagnosis('b'), { labels: { app: 'api' } }));
      await store.create(newDiagnosis('c', { nodeName: 'node-2' }));
      const cases: readonly (readonly [Selection, readonly string[]])[] = [
        [{ labelSelector: 'app=web' }, ['a']],
        [{ labelSelector: 'app!=web' }, ['b', 'c']],
        [{ labelSelector: 'app in (web, api),tier' }, ['a']],
        [{ labelSelector: 'app notin (web)' }, ['b', 'c']],
        [{ labelSelector: '!app' }, ['c']],
        [{ fieldSelector: 'metadata.name=b', labelSelector: 'app' }, ['b']],
        [{ namespace: 'other', labelSelector: 'app' }, []],
      ];
      for (const [selection, names] of cases) {
        expect([selection, await namesIn(store, 'Diagnosis', selection)]).toEqual([
          selection,
          names,
        ]);
      }
      const malformed = store.list('Diagnosis', { labelSelector: 'app=(web' });
      await expect(malformed).rejects.toMatchObject({ reason: 'BadRequest' });
    });

    test('iterates over many, and a watch from that version misses no change', async () => {
      const store = await makeStore();
      const names = Array.from({ length: 40 }, (_, index) => `n${String(index).padStart(2, '0')}`);
      await Promise.all(names.map((name) => store.create(newDiagnosis(name))));
      const { objects, resourceVersion } = await store.each('Diagnosis');
      const seen: string[] = [];
      for await (const { metadata } of objects) {
        seen.push(metadata.name);
        // Whether the iteration still shows it depends on the store.
        if (metadata.name === 'n05') await store.delete(key('n39'));
      }
      expect(seen.filter((name) => name !== 'n39')).toEqual(names.slice(0, -1));
      expect(await eventsOf(store, resourceVersion, 1)).toEqual(['DELETED n39']);
    });
  });

  describe(`${which} store: watches`, () => {
    test('reports every change since a version, in order', async () => {
      const store = await makeStore();
      await store.create(newDiagnosis('before'));
      const { resourceVersion } = await store.list('Diagnosis');
      const created = await store.create(newDiagnosis('one'));
      await store.create(newSet('some'));
      const running = await store.updateStatus({ ...created, status: { phase: 'Running' } });
      const events = objectEventsOf(store, resourceVersion, 4);
      await store.delete(key('one'));
      const last = await store.create(newDiagnosis('two'));
      const [first, second, third, fourth] = await events;
      expect(first).toEqual({ type: 'ADDED', object: created });
      expect(second).toEqual({ type: 'MODIFIED', object: running });
      expect(third).toMatchObject({
        type: 'DELETED',
        object: { metadata: { uid: created.metadata.uid } },
      });
      expect(fourth).toEqual({ type: 'ADDED', object: last });
      // A watch that goes on from an event misses nothing and repeats nothing.
      const { resourceVersion: middle } = running.metadata;
      expect(await eventsOf(store, middle, 2)).toEqual(['DELETED one', 'ADDED two']);
    });

    test('reports the changes of one namespace', async () => {
      const store = await makeStore();
      const { resourceVersion } = await store.list('Diagnosis');
      await store.create(newDiagnosis('one'));
      await store.create(newDiagnosis('two', {}, 'other'));
      expect(await eventsOf(store, resourceVersion, 1, { namespace: 'other' })).toEqual([
        'ADDED two',
      ]);
    });

    test('reports an object that begins to match a selector as added, and one that no longer does as deleted', async () => {
      const store = await makeStore();
      const { resourceVersion } = await store.list('Diagnosis');
      const created = await store.create(newDiagnosis('one'));
      const labelled = await store.update(withMetadata(created, { labels: { app: 'web' } }));
      const running = await store.updateStatus({ ...labelled, status: { phase: 'Running' } });
      const plain = await store.update(withMetadata(running, { labels: {} }));
      await store.delete(key('one'), plain.metadata.resourceVersion);
      const labelSelector = 'app=web';
      const ofLabel = eventsOf(store, resourceVersion, 4, { labelSelector });
      await store.create(withMetadata(newDiagnosis('three'), { labels: { app: 'web' } }));
      expect(await ofLabel).toEqual(['ADDED one', 'MODIFIED one', 'DELETED one', 'ADDED three']);
    });

    test('ends when it is stopped', async () => {
      const store = await makeStore();
      const { resourceVersion } = await store.list('Diagnosis');
      const stop = new AbortController();
      const events = store.watch('Diagnosis', { resourceVersion, stop: stop.signal });
      const next = events[Symbol.asyncIterator]().next();
      stop.abort();
      expect(await next).toMatchObject({ done: true });
    });
  });
}

function describeFieldSelectors(which: string, makeStore: () => Promise<Store>): void {
  describe(`${which} store: field selectors`, () => {
    test('selects by fields', async () => {
      const store = await makeStore();
      for (const name of ['a', 'b']) await store.create(newDiagnosis(name));
      await store.create(newDiagnosis('c', { nodeName: 'node-2' }));
      const select = (fieldSelector: string) => namesIn(store, 'Diagnosis', { fieldSelector });
      expect(await select('spec.nodeName=node-1')).toEqual(['a', 'b']);
      expect(await select('spec.nodeName!=node-1')).toEqual(['c']);
    });

    test('reports an object from when its field matches', async () => {
      const store = await makeStore();
      const { resourceVersion } = await store.list('Diagnosis');
      const podReference = { namespace: 'default', name: 'web' };
      const unassigned = newDiagnosis('one', { nodeName: undefined, podReference });
      const created = await store.create(unassigned);
      await store.create(newDiagnosis('two', { nodeName: 'node-2' }));
      const spec = { ...created.spec, nodeName: 'node-1' };
      const here = await store.update({ ...created, spec });
      const running = await store.updateStatus({ ...here, status: { phase: 'Running' } });
      await store.delete(key('one'), running.metadata.resourceVersion);
      const ofNode = { fieldSelector: 'spec.nodeName=node-1' };
      const events = await eventsOf(store, resourceVersion, 3, ofNode);
      expect(events).toEqual(['ADDED one', 'MODIFIED one', 'DELETED one']);
    });
  });
}

function timeAt(second: number): string {
  return `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`;
}

async function stored(store: Store, name: string): Promise<StoredObject> {
  const object = await store.get(key(name));
  if (!object) throw new Error(`${name} is missing`);
  return object;
}

/** By a list and by an iteration, which agree while nothing changes. */
async function namesIn(
  store: Store,
  kind: KindName,
  selection?: Selection,
): Promise<readonly string[]> {
  const { items } = await store.list(kind, selection);
  const { objects } = await store.each(kind, selection);
  const names: string[] = [];
  for await (const { metadata } of objects) names.push(metadata.name);
  expect(names).toEqual(items.map(({ metadata }) => metadata.name));
  return names;
}

async function eventsOf(
  store: Store,
  from: string,
  count: number,
  selection?: Selection,
): Promise<readonly string[]> {
  const events = await objectEventsOf(store, from, count, selection);
  return events.map(({ type, object }) => `${type} ${object.metadata.name}`);
}

/** The next changes of Diagnoses; a watch that ends early goes on, from bookmarks too. */
async function objectEventsOf(
  store: Store,
  from: string,
  count: number,
  selection: Selection = {},
): Promise<readonly ObjectEvent[]> {
  const events: ObjectEvent[] = [];
  const stop = new AbortController();
  let resourceVersion = from;
  while (!stop.signal.aborted) {
    const options = { ...selection, resourceVersion, stop: stop.signal };
    for await (const event of store.watch('Diagnosis', options)) {
      const isBookmark = event.type === 'BOOKMARK';
      resourceVersion = isBookmark ? event.resourceVersion : event.object.metadata.resourceVersion;
      if (!isBookmark) events.push(event);
      if (events.length === count) stop.abort();
    }
  }
  return events;
}
