import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { storeWith } from '../../../test/store-with.ts';
import { SyntheticWalk, walkOf } from '../../../test/synthetic-walk.ts';
import { StoreError } from '../store/store-error.ts';

test('waits for a store that fails temporarily, and repeats no step', async () => {
  const walk = await walkOf('ab');
  const { store } = walk;
  let failures = 3;
  walk.store = storeWith(store, {
    updateStatus: async (object) => {
      if (walk.ran.length === 1 && failures > 0) {
        failures -= 1;
        throw new StoreError('ServiceUnavailable', 'the disk is full');
      }
      return store.updateStatus(object);
    },
  });
  expect(await walk.drive()).toMatchObject({ state: 'ended' });
  expect(walk.ran).toEqual(['a', 'b']);
  expect(walk.errors).toEqual(['the disk is full', 'the disk is full', 'the disk is full']);
});

test('repeats no step when writes happen and their answers are lost', async () => {
  const walk = await walkOf('abc');
  const { store } = walk;
  let writes = 0;
  walk.store = storeWith(store, {
    updateStatus: async (object) => {
      const stored = await store.updateStatus(object);
      writes += 1;
      // The second attempt is a conflict with the first one.
      if (writes % 3 !== 0) throw new StoreError('ServiceUnavailable', 'connection reset');
      return stored;
    },
  });
  expect(await walk.drive()).toMatchObject({ state: 'ended' });
  expect(walk.ran).toEqual(['a', 'b', 'c']);
  expect(await walk.status()).toMatchObject({ phase: 'Succeeded' });
  expect(writes).toBeGreaterThan(3);
});

test('waits when a read of an Operation or the last write fails temporarily', async () => {
  const walk = await walkOf('a');
  const { store } = walk;
  const failing = new Set<string>(['OperationSet', 'Operation', 'bare']);
  const failOnce = (what: string) => {
    if (failing.delete(what)) throw new StoreError('ServiceUnavailable', `no ${what}`);
  };
  walk.store = storeWith(store, {
    get: async (key) => {
      failOnce(key.kind);
      return store.get(key);
    },
    updateStatus: async (object) => {
      if (object.status?.phase !== 'Failed')
        throw new StoreError('RequestEntityTooLarge', 'too large');
      failOnce('bare');
      return store.updateStatus(object);
    },
  });
  expect(await walk.drive()).toMatchObject({ state: 'ended' });
  expect(walk.errors).toEqual(['no OperationSet', 'no Operation', 'no bare']);
  expect((await walk.status()).conditions?.at(-1)?.reason).toBe('SyncDiagnosisFailed');
  expect(walk.ran).toEqual([]);
});

test('a damaged object interrupts its Diagnosis and is reported', async () => {
  const walk = await walkOf('a');
  const { store } = walk;
  walk.store = storeWith(store, {
    get: async (key) => {
      if (key.kind === 'Operation') throw new StoreError('Damaged', 'its row is damaged');
      return store.get(key);
    },
  });
  expect(await walk.drive()).toEqual({ state: 'interrupted' });
  expect(walk.errors).toEqual(['its row is damaged']);
  expect((await walk.stored()).status).toBeUndefined();
  const updateStatus = () => Promise.reject(new StoreError('Damaged', 'this one too'));
  walk.store = storeWith(store, { updateStatus });
  expect(await walk.drive()).toEqual({ state: 'interrupted' });
  expect(walk.errors.at(-1)).toBe('this one too');
});

test('a deadline that passes during a write is handled at once', async () => {
  const walk = new SyntheticWalk();
  await walk.diagnosis({ deadlineSeconds: 10 });
  const { store } = walk;
  const begun = Date.now();
  walk.store = storeWith(store, {
    updateStatus: async (object) => {
      // The disk takes its time.
      walk.now = () => new Date(begun + 70_000);
      return store.updateStatus(object);
    },
  });
  const driven = await walk.drive();
  if (driven.state !== 'waits') throw new Error(driven.state);
  expect(driven.againAt).toBeLessThanOrEqual(begun + 10_000);
  expect(driven.againAt).toBeGreaterThan(begun + 8_000);
});

test('a store that asks to wait gets no request before that time', async () => {
  const walk = await walkOf('a');
  let requests = 0;
  const updateStatus = async () => {
    requests += 1;
    throw new StoreError('TooManyRequests', 'slow down', 3_600_000);
  };
  walk.store = storeWith(walk.store, { updateStatus });
  const driven = walk.drive();
  // Without that time the second request comes after 100 ms.
  await sleep(400);
  walk.shutdown.abort();
  expect(await driven).toEqual({ state: 'interrupted' });
  expect(requests).toBe(2);
  expect(walk.errors).toEqual(['slow down']);
});

test('a Diagnosis whose status the store rejects as invalid fails', async () => {
  const walk = await walkOf('a');
  const { store } = walk;
  walk.store = storeWith(store, {
    updateStatus: async (object) => {
      const { steps } = object.status ?? {};
      if (steps !== undefined) throw new StoreError('Invalid', 'status.steps: unknown field');
      return store.updateStatus(object);
    },
  });
  expect(await walk.drive()).toMatchObject({
    state: 'ended',
    object: { status: { phase: 'Failed' } },
  });
  expect(walk.ran).toEqual(['a']);
});

test('a failure that meets a change of the Diagnosis is written to the changed one', async () => {
  const walk = await walkOf('a');
  const { store } = walk;
  let conflicts = 1;
  walk.store = storeWith(store, {
    updateStatus: async (object) => {
      if (object.status?.phase !== 'Failed')
        throw new StoreError('RequestEntityTooLarge', 'too large');
      if (conflicts > 0) {
        conflicts -= 1;
        throw new StoreError('Conflict', 'it was changed');
      }
      return store.updateStatus(object);
    },
  });
  expect(await walk.drive()).toMatchObject({ state: 'ended' });
  expect(walk.errors).toEqual([]);
  expect((await walk.status()).phase).toBe('Failed');
  expect(conflicts).toBe(0);
});

test('an agent without the right to update a Diagnosis writes its status only', async () => {
  const walk = await walkOf('ab', {
    nodeName: undefined,
    podReference: { namespace: 'a', name: 'b' },
  });
  const { store } = walk;
  walk.isAgentOnly = true;
  walk.store = storeWith(store, {
    update: () => Promise.reject(new StoreError('Forbidden', 'cannot update diagnoses')),
  });
  const { spec, metadata } = await walk.stored();
  expect(await walk.drive()).toMatchObject({ state: 'ended' });
  expect(walk.ran).toEqual(['a', 'b']);
  const after = await walk.stored();
  expect(after).toMatchObject({ spec, status: { phase: 'Succeeded' } });
  expect(after.metadata).toEqual({
    ...metadata,
    resourceVersion: after.metadata.resourceVersion,
  });
});

test('nothing is written to a Diagnosis of another node', async () => {
  const walk = await walkOf('a', { nodeName: 'node-2', cancel: true, deadlineSeconds: 1 });
  walk.otherNodes = 'elsewhere';
  const before = await walk.stored();
  expect(await walk.drive()).toEqual({ state: 'elsewhere' });
  expect(await walk.stored()).toEqual(before);
});

test('a Diagnosis that is being deleted does not run', async () => {
  const walk = await walkOf('a');
  const { store } = walk;
  const object = await walk.stored();
  const metadata = { ...object.metadata, finalizers: ['diagnosis.kubediag.org/test'] };
  await store.update({ ...object, metadata });
  await walk.delete();
  expect(await walk.drive()).toEqual({ state: 'gone' });
  expect(walk.ran).toEqual([]);
});
