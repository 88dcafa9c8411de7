import { describe, expect, test } from 'vitest';
import { API_VERSION } from '../api/kinds.ts';
import { HISTORY_EVENTS_MAX, OBJECT_BYTES_MAX } from './limits.ts';
import type { NewObject, Store, StoreEvent } from './store.ts';

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

/** What every store promises, wherever it keeps its objects. */
export function describeStore(which: string, makeStore: () => Promise<Store>): void {
  describe(`the ${which} store`, () => {
    test('gives what is created its metadata, and finds it again', async () => {
      const store = await makeStore();
      const fixture = await store.create({
        ...newDiagnosis('one'),
        metadata: { name: 'one', namespace: 'default', labels: { a: 'b' } },
        status: { phase: 'Succeeded' },
      });
      expect(fixture).toMatchObject({
        kind: 'Diagnosis',
        metadata: { name: 'one', namespace: 'default', generation: 1, labels: { a: 'b' } },
      });
      expect(fixture.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
      expect(fixture.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      // Nobody creates a Diagnosis that has ended already.
      expect(fixture.status).toBeUndefined();
      expect(await store.get(key('one'))).toEqual(fixture);
      expect(await store.get(key('one', 'other'))).toBeUndefined();
    });

    test('takes a name once in a namespace, and again when it is deleted', async () => {
      const store = await makeStore();
      const first = await store.create(newDiagnosis('one'));
      await expect(store.create(newDiagnosis('one'))).rejects.toMatchObject({
        trouble: 'AlreadyExists',
      });
      await store.create(newDiagnosis('one', {}, 'other'));
      await store.delete(key('one'));
      const second = await store.create(newDiagnosis('one'));
      expect(second.metadata.uid).not.toBe(first.metadata.uid);
      // Who still means the first one does not change the second.
      await expect(
        store.updateStatus({
          ...first,
          metadata: { ...first.metadata, resourceVersion: second.metadata.resourceVersion },
        }),
      ).rejects.toMatchObject({ trouble: 'Conflict' });
    });

    test('refuses a namespace where there is none, and its absence where there is one', async () => {
      const store = await makeStore();
      const set = newSet('some');
      await expect(
        store.create({ ...set, metadata: { name: 'some', namespace: 'default' } }),
      ).rejects.toThrow('OperationSet some has no namespace');
      await expect(store.get({ kind: 'Diagnosis', name: 'one' })).rejects.toThrow(
        'Diagnosis one needs a namespace',
      );
      await store.create(set);
      expect(await store.get({ kind: 'OperationSet', name: 'some' })).toMatchObject(set);
    });

    test('counts changes of the spec, and of nothing else', async () => {
      const store = await makeStore();
      const fixture = await store.create(newDiagnosis('one'));
      const labelled = await store.update({
        ...fixture,
        metadata: { ...fixture.metadata, labels: { a: 'b' } },
      });
      expect(labelled.metadata).toMatchObject({ generation: 1, labels: { a: 'b' } });
      const running = await store.updateStatus({ ...labelled, status: { phase: 'Running' } });
      expect(running).toMatchObject({ metadata: { generation: 1 }, status: { phase: 'Running' } });
      const cancelled = await store.update({ ...running, spec: { ...fixture.spec, cancel: true } });
      expect(cancelled.metadata.generation).toBe(2);
      expect(cancelled.status).toEqual({ phase: 'Running' });
    });

    test('writes the status and the rest apart from each other', async () => {
      const store = await makeStore();
      const fixture = await store.create(newDiagnosis('one'));
      const specOnly = await store.update({
        ...fixture,
        spec: { ...fixture.spec, suspend: true },
        status: { phase: 'Failed' },
      });
      expect(specOnly.status).toBeUndefined();
      const statusOnly = await store.updateStatus({
        ...specOnly,
        metadata: { ...specOnly.metadata, labels: { x: 'y' } },
        spec: { operationSet: 'another' },
        status: { phase: 'Running' },
      });
      expect(statusOnly).toEqual({
        ...specOnly,
        metadata: { ...specOnly.metadata, resourceVersion: statusOnly.metadata.resourceVersion },
        status: { phase: 'Running' },
      });
    });

    test('lets only whoever knows the last version change it', async () => {
      const store = await makeStore();
      const fixture = await store.create(newDiagnosis('one'));
      const changed = await store.updateStatus({ ...fixture, status: { phase: 'Running' } });
      const late = { trouble: 'Conflict' };
      await expect(store.update({ ...fixture, spec: {} })).rejects.toMatchObject(late);
      await expect(store.updateStatus({ ...fixture, status: {} })).rejects.toMatchObject(late);
      await expect(
        store.delete(key('one'), fixture.metadata.resourceVersion),
      ).rejects.toMatchObject(late);
      expect(await store.get(key('one'))).toEqual(changed);
      await store.delete(key('one'), changed.metadata.resourceVersion);
      const missing = { trouble: 'NotFound' };
      await expect(store.update(changed)).rejects.toMatchObject(missing);
      await expect(store.delete(key('one'))).rejects.toMatchObject(missing);
    });

    test('of many who change the same version at once, one does', async () => {
      const store = await makeStore();
      const fixture = await store.create(newDiagnosis('one'));
      const asked = Array.from({ length: 20 }, (_, by) =>
        store.updateStatus({ ...fixture, status: { by } }),
      );
      const answers = await Promise.allSettled(asked);
      const stored = answers.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
      expect(stored).toEqual([await store.get(key('one'))]);
    });

    test('takes a change that changes nothing for none', async () => {
      const store = await makeStore();
      const fixture = await store.create(newDiagnosis('one'));
      expect(await store.update(fixture)).toEqual(fixture);
      expect(await store.updateStatus(fixture)).toEqual(fixture);
      expect((await store.list('Diagnosis')).resourceVersion).toBe(
        fixture.metadata.resourceVersion,
      );
    });

    test('numbers all changes in one row', async () => {
      const store = await makeStore();
      const set = await store.create(newSet('some'));
      const fixture = await store.create(newDiagnosis('one'));
      const deleted = await store.delete(key('one'));
      const again = await store.create(newDiagnosis('one'));
      const versions = [set, fixture, deleted, again].map(({ metadata }) =>
        Number(metadata.resourceVersion),
      );
      expect(versions).toEqual([...new Set(versions)].toSorted((left, right) => left - right));
    });

    test('lists a kind in the order of its names, in all namespaces or in one', async () => {
      const store = await makeStore();
      await store.create(newSet('some'));
      await store.create(newDiagnosis('b'));
      await store.create(newDiagnosis('c', {}, 'other'));
      const last = await store.create(newDiagnosis('a'));
      const all = await store.list('Diagnosis');
      expect(all.items.map((each) => each.metadata.name)).toEqual(['a', 'b', 'c']);
      expect(all.resourceVersion).toBe(last.metadata.resourceVersion);
      const other = await store.list('Diagnosis', 'other');
      expect(other.items.map((each) => each.metadata.name)).toEqual(['c']);
      expect((await store.list('Trigger')).items).toEqual([]);
      const each = await store.each('Diagnosis', 'other');
      expect([...each.objects]).toEqual(other.items);
      expect(each.resourceVersion).toBe(other.resourceVersion);
    });

    test('gives many one after another, each as it is when its turn comes', async () => {
      const store = await makeStore();
      const names = Array.from({ length: 40 }, (_, index) => `n${String(index).padStart(2, '0')}`);
      await Promise.all(names.map((name) => store.create(newDiagnosis(name))));
      await store.create(newDiagnosis('other', {}, 'before'));
      const { objects, resourceVersion } = await store.each('Diagnosis');
      const seen: string[] = [];
      for (const { metadata } of objects) {
        seen.push(metadata.name);
        // Whoever takes their time sees no ghost; the watch from that version tells the rest.
        if (metadata.name === 'n05') await store.delete(key('n39'));
      }
      expect(seen).toEqual(['other', ...names.slice(0, -1)]);
      const stop = new AbortController();
      for await (const { type, object } of store.watch('Diagnosis', resourceVersion, stop.signal)) {
        expect([type, object.metadata.name]).toEqual(['DELETED', 'n39']);
        stop.abort();
      }
    });

    test('refuses an object that etcd would not take', async () => {
      const store = await makeStore();
      const fixture = await store.create(newDiagnosis('one'));
      // In bytes, not in characters.
      const large = 'é'.repeat(OBJECT_BYTES_MAX / 2);
      const refused = { trouble: 'TooLarge' };
      await expect(
        store.updateStatus({ ...fixture, status: { operationResults: { large } } }),
      ).rejects.toMatchObject(refused);
      await expect(store.create(newDiagnosis('two', { large }))).rejects.toMatchObject(refused);
      expect(await store.get(key('one'))).toEqual(fixture);
      expect(await store.get(key('two'))).toBeUndefined();
    });

    test('tells whoever watches every change since a version, in order', async () => {
      const store = await makeStore();
      await store.create(newDiagnosis('before'));
      const { resourceVersion } = await store.list('Diagnosis');
      const fixture = await store.create(newDiagnosis('one'));
      await store.create(newSet('some'));
      const running = await store.updateStatus({ ...fixture, status: { phase: 'Running' } });
      const events = eventsOf(store, resourceVersion, 4);
      const deleted = await store.delete(key('one'));
      const last = await store.create(newDiagnosis('two'));
      expect(await events).toEqual([
        { type: 'ADDED', object: fixture },
        { type: 'MODIFIED', object: running },
        { type: 'DELETED', object: deleted },
        { type: 'ADDED', object: last },
      ]);
      // Who takes it up in the middle misses nothing, and sees nothing twice.
      const { resourceVersion: middle } = running.metadata;
      expect(await eventsOf(store, middle, 1)).toEqual([{ type: 'DELETED', object: deleted }]);
    });

    test('says so to whoever wants changes that it no longer knows', async () => {
      const store = await makeStore();
      const { metadata } = await store.create(newDiagnosis('old'));
      for (let fixture = 0; fixture < HISTORY_EVENTS_MAX + 1; fixture += 1_000) {
        const names = Array.from({ length: 1_000 }, (_, at) => `many-${fixture + at}`);
        await Promise.all(names.map((each) => store.create(newDiagnosis(each))));
      }
      const gone = { trouble: 'Gone' };
      await expect(eventsOf(store, metadata.resourceVersion, 1)).rejects.toMatchObject(gone);
      // Neither does it know what has not happened yet, nor words.
      await expect(eventsOf(store, '99999999', 1)).rejects.toMatchObject(gone);
      await expect(eventsOf(store, 'yesterday', 1)).rejects.toMatchObject(gone);
      const { resourceVersion } = await store.list('Diagnosis');
      const next = eventsOf(store, resourceVersion, 1);
      const fixture = await store.create(newDiagnosis('new'));
      expect(await next).toEqual([{ type: 'ADDED', object: fixture }]);
    });

    test('stops to tell when it is asked to', async () => {
      const store = await makeStore();
      const { metadata } = await store.create(newDiagnosis('one'));
      const stop = new AbortController();
      const events = store.watch('Diagnosis', metadata.resourceVersion, stop.signal);
      const next = events[Symbol.asyncIterator]().next();
      stop.abort();
      expect(await next).toMatchObject({ done: true });
    });

    test('keeps what it gave away apart from what it keeps', async () => {
      const store = await makeStore();
      const fixture = await store.create(newDiagnosis('one'));
      (fixture.spec as Record<string, unknown>).operationSet = 'spoilt';
      expect((await store.get(key('one')))?.spec.operationSet).toBe('some');
    });
  });
}

async function eventsOf(store: Store, from: string, count: number): Promise<readonly StoreEvent[]> {
  const events: StoreEvent[] = [];
  const stop = new AbortController();
  for await (const event of store.watch('Diagnosis', from, stop.signal)) {
    events.push(event);
    if (events.length === count) stop.abort();
  }
  return events;
}
