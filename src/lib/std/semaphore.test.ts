import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Semaphore } from './semaphore.ts';

test('limits concurrency in order of arrival, and an operation that throws releases its permit', async () => {
  const semaphore = new Semaphore(3);
  const order: number[] = [];
  let now = 0;
  let most = 0;
  const takes = Array.from({ length: 20 }, (_, at) =>
    semaphore.run(async () => {
      order.push(at);
      now += 1;
      most = Math.max(most, now);
      await setImmediate();
      now -= 1;
      if (at % 2 === 0) throw new Error('it broke off');
      return at;
    }),
  );
  const ended = await Promise.allSettled(takes);
  expect(most).toBe(3);
  expect(order).toEqual(takes.map((_, at) => at));
  expect(ended.filter(({ status }) => status === 'rejected')).toHaveLength(10);
  expect(await semaphore.run(async () => 'all are free again')).toBe('all are free again');
});

test('an aborted operation stops waiting, and gets no permit afterwards', async () => {
  const semaphore = new Semaphore(1);
  const first = Promise.withResolvers<string>();
  const stop = new AbortController();
  const ran: string[] = [];
  const taken = semaphore.run(() => first.promise);
  const stopped = semaphore.run(async () => ran.push('stopped'), stop.signal);
  const last = semaphore.run(async () => ran.push('last'));
  stop.abort(new Error('cancelled'));
  await expect(stopped).rejects.toThrow('cancelled');
  await expect(semaphore.run(async () => ran.push('late'), stop.signal)).rejects.toThrow(
    'cancelled',
  );
  expect(ran).toEqual([]);
  first.resolve('done');
  await Promise.all([taken, last]);
  expect(ran).toEqual(['last']);
});
