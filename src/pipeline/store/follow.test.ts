import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { storeWith } from '../../../test/store-with.ts';
import { follow } from './follow.ts';
import { openMemoryStore } from './sqlite-store.ts';
import type { Store } from './store.ts';
import { newDiagnosis } from './store-contract.ts';
import { StoreError } from './store-error.ts';

/** Follows the Diagnoses of a store until the test ends, and logs what it sees. */
function logOf(store: Store): string[] {
  const log: string[] = [];
  const stop = new AbortController();
  const following = follow(store, 'Diagnosis', {
    onList: async (objects) => {
      for await (const { metadata } of objects) log.push(`LISTED ${metadata.name}`);
    },
    onEvent: ({ type, object }) => log.push(`${type} ${object.metadata.name}`),
    onError: (message) => log.push(message),
    stop: stop.signal,
  });
  onTestFinished(async () => {
    stop.abort();
    await following;
  });
  return log;
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(5);
}

test('goes on after a watch that ended or failed, without listing again', async () => {
  const store = openMemoryStore();
  let watches = 0;
  const watch: Store['watch'] = async function* (kind, options) {
    watches += 1;
    for await (const event of store.watch(kind, options)) {
      yield event;
      // The first watch ends after an event, the second one fails.
      if (watches === 1) return;
      if (watches === 2) throw new StoreError('ServiceUnavailable', 'connection reset');
    }
  };
  await store.create(newDiagnosis('zero'));
  const log = logOf(storeWith(store, { watch }));
  await until(() => log.length === 1);
  for (const name of ['one', 'two', 'three']) await store.create(newDiagnosis(name));
  await until(() => log.includes('ADDED three'));
  expect(log).toEqual(['LISTED zero', 'ADDED one', 'ADDED two', 'connection reset', 'ADDED three']);
});

test('goes on from a bookmark', async () => {
  const store = openMemoryStore();
  const versions: string[] = [];
  const watch: Store['watch'] = async function* (kind, options) {
    versions.push(options.resourceVersion);
    if (versions.length === 1) yield { type: 'BOOKMARK', resourceVersion: 'later' };
    else yield* store.watch(kind, { ...options, resourceVersion: versions[0] ?? '' });
  };
  logOf(storeWith(store, { watch }));
  await until(() => versions.length === 2);
  expect(versions[1]).toBe('later');
});

test('lists again when its version has expired', async () => {
  const store = openMemoryStore();
  let watches = 0;
  const watch: Store['watch'] = async function* (kind, options) {
    watches += 1;
    if (watches === 1) {
      await store.create(newDiagnosis('missed'));
      throw new StoreError('Expired', 'too old');
    }
    yield* store.watch(kind, options);
  };
  const log = logOf(storeWith(store, { watch }));
  await until(() => watches === 2);
  expect(log).toEqual(['LISTED missed']);
});
