import { expect, test } from 'vitest';
import { mapAtOnce } from './map-at-once.ts';

test('returns the results in the order of the items, with limited concurrency', async () => {
  let [running, most] = [0, 0];
  const results = await mapAtOnce([5, 1, 4, 2, 3], 2, async (item) => {
    running += 1;
    most = Math.max(most, running);
    for (let turn = 0; turn < item; turn += 1) await Promise.resolve();
    running -= 1;
    return item * 10;
  });
  expect(results).toEqual([50, 10, 40, 20, 30]);
  expect(most).toBe(2);
  expect(await mapAtOnce([], 2, async () => 1)).toEqual([]);
});

test('fails with the first operation that fails', async () => {
  const failing = mapAtOnce([1, 2, 3], 2, async (item) => {
    if (item === 2) throw new Error('no answer');
    return item;
  });
  await expect(failing).rejects.toThrow('no answer');
});

test('takes no further item after a failure', async () => {
  const taken: number[] = [];
  const failing = mapAtOnce(
    Array.from({ length: 100 }, (_, index) => index),
    3,
    async (item) => {
      taken.push(item);
      await Promise.resolve();
      if (item === 4) throw new Error('no answer');
    },
  );
  await expect(failing).rejects.toThrow('no answer');
  await new Promise(setImmediate);
  expect(taken).toEqual([0, 1, 2, 3, 4, 5, 6]);
});
