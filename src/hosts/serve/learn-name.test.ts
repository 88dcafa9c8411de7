import { expect, test } from 'vitest';
import { learnName } from './learn-name.ts';

test('asks for the name until there is an answer', async () => {
  const { signal } = new AbortController();
  const answers = [undefined, undefined, 'worker-7', 'another'];
  expect(await learnName(async () => answers.shift(), 1, signal)).toBe('worker-7');
  expect(answers).toEqual(['another']);
});

test('asks no more after a stop', async () => {
  const stop = new AbortController();
  let asked = 0;
  const ask = async () => {
    asked += 1;
    stop.abort();
    return undefined;
  };
  expect(await learnName(ask, 1, stop.signal)).toBeUndefined();
  expect(asked).toBe(1);
  expect(await learnName(ask, 1, stop.signal)).toBeUndefined();
  expect(asked).toBe(1);
});
