import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { walkOf } from '../../../test/synthetic-walk.ts';
import type { StoredObject } from '../store/store.ts';
import { Runner } from './runner.ts';

test('observes a change of an ended Diagnosis without running or counting it again', async () => {
  const walk = await walkOf('ab');
  const ended: StoredObject[] = [];
  const running = new Runner({ ...walk.context, onEnded: (object) => ended.push(object) }).run();
  const isObserved = async () => {
    const { metadata, status } = await walk.stored();
    return status?.phase === 'Succeeded' && status.observedGeneration === metadata.generation;
  };
  while (!(await isObserved())) await sleep(5);
  await walk.change({ ttlSecondsAfterFinished: 3_600 });
  expect(await isObserved()).toBe(false);
  while (!(await isObserved())) await sleep(5);
  await walk.change({ ttlSecondsAfterFinished: 7_200 });
  while (!(await isObserved())) await sleep(5);
  expect(walk.ran).toEqual(['a', 'b']);
  expect(ended).toHaveLength(1);
  walk.shutdown.abort();
  await running;
});
