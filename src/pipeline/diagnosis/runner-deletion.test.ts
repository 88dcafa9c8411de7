import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { storeWith } from '../../../test/store-with.ts';
import { walkOf } from '../../../test/synthetic-walk.ts';
import type { Store } from '../store/store.ts';
import { StoreError } from '../store/store-error.ts';
import { Runner } from './runner.ts';

test('a Diagnosis that runs again when its TTL expires is not deleted', async () => {
  const walk = await walkOf('a', { ttlSecondsAfterFinished: 0 });
  await walk.drive();
  const { store } = walk;
  const asked = Promise.withResolvers<void>();
  // Somebody has started it again, and the watch has not reported that yet.
  const get: Store['get'] = async (key) => {
    const found = await store.get(key);
    asked.resolve();
    return found && { ...found, status: { ...found.status, phase: 'Running' } };
  };
  const deleted: string[] = [];
  walk.store = storeWith(store, { get, delete: async ({ name }) => void deleted.push(name) });
  const running = new Runner({ ...walk.context, deletesExpired: true }).run();
  await asked.promise;
  await sleep(20);
  walk.shutdown.abort();
  await running;
  expect(deleted).toEqual([]);
});

test('without the right to delete, an expired Diagnosis stays and is forgotten', async () => {
  const walk = await walkOf('a', { ttlSecondsAfterFinished: 0 });
  const deleted: string[] = [];
  const ended = Promise.withResolvers<void>();
  walk.store = storeWith(walk.store, { delete: async ({ name }) => void deleted.push(name) });
  const runner = new Runner({ ...walk.context, onEnded: () => ended.resolve() });
  const running = runner.run();
  await ended.promise;
  await sleep(20);
  expect(runner.counts).toEqual({ inFlight: 0, queued: 0, waiting: 0 });
  walk.shutdown.abort();
  await running;
  expect(deleted).toEqual([]);
});

test('a new list after missed changes removes the results of deleted Diagnoses', async () => {
  const walk = await walkOf('a');
  const { store } = walk;
  await walk.drive();
  const retained: number[] = [];
  const again = Promise.withResolvers<void>();
  const { largeResults } = walk.context;
  let watches = 0;
  const watch: Store['watch'] = async function* (kind, options) {
    if (kind === 'Diagnosis') watches += 1;
    if (kind !== 'Diagnosis' || watches > 1) {
      yield* store.watch(kind, options);
      return;
    }
    for (const { metadata } of (await store.list('Diagnosis')).items) {
      await store.delete({ kind: 'Diagnosis', ...metadata });
    }
    throw new StoreError('Expired', 'too long ago');
  };
  walk.store = storeWith(store, { watch });
  const retain = async (uids: ReadonlySet<string>) => {
    retained.push(uids.size);
    if (retained.length === 2) again.resolve();
  };
  const running = new Runner({ ...walk.context, largeResults: { ...largeResults, retain } }).run();
  await again.promise;
  walk.shutdown.abort();
  await running;
  expect(retained).toEqual([1, 0]);
});
