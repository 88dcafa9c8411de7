import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { StoreError } from '../store/store-error.ts';
import { WorkQueue } from './work-queue.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A queue whose work waits until the test ends it. */
function queueOf(concurrency = 2) {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const begun: string[] = [];
  const errors: string[] = [];
  const open = new Map<string, PromiseWithResolvers<number | undefined>>();
  const queue = new WorkQueue({
    work: (key) => {
      begun.push(key);
      const result = Promise.withResolvers<number | undefined>();
      open.set(key, result);
      return result.promise;
    },
    concurrency,
    stop: stop.signal,
    onError: (message) => errors.push(message),
  });
  const settled = () => vi.advanceTimersByTimeAsync(0);
  const end = async (key: string, againMs?: number) => {
    open.get(key)?.resolve(againMs);
    await settled();
  };
  const fail = async (key: string, retryAfterMs?: number) => {
    open.get(key)?.reject(new StoreError('TooManyRequests', 'slow down', retryAfterMs));
    await settled();
  };
  return { queue, begun, errors, end, fail, stop };
}

test('works on each key once, and on few at a time', async () => {
  const { queue, begun, end } = queueOf(2);
  for (const key of ['a', 'b', 'c', 'c', 'd']) queue.add(key);
  expect(begun).toEqual(['a', 'b']);
  await end('a');
  expect(begun).toEqual(['a', 'b', 'c']);
  await end('b');
  await end('c');
  await end('d');
  expect(begun).toEqual(['a', 'b', 'c', 'd']);
  expect(queue.size).toBe(0);
});

test('works on a key again that was added meanwhile, and not at the same time', async () => {
  const { queue, begun, end } = queueOf();
  queue.add('a');
  queue.add('a');
  queue.add('a');
  expect(begun).toEqual(['a']);
  await end('a');
  expect(begun).toEqual(['a', 'a']);
  await end('a');
  expect(queue.size).toBe(0);
});

test('works on a key again after the time that the work asks for, or when it is added', async () => {
  const { queue, begun, end } = queueOf();
  queue.add('a');
  await end('a', 60_000);
  await vi.advanceTimersByTimeAsync(59_000);
  expect(begun).toEqual(['a']);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(begun).toEqual(['a', 'a']);
  await end('a', 60_000);
  queue.add('a');
  expect(begun).toEqual(['a', 'a', 'a']);
});

test('waits longer after each failure of a key, also when it is added again', async () => {
  const { queue, begun, errors, end, fail } = queueOf();
  queue.add('a');
  await fail('a');
  queue.add('a');
  expect(begun).toEqual(['a']);
  await vi.advanceTimersByTimeAsync(100);
  expect(begun).toEqual(['a', 'a']);
  await fail('a');
  await vi.advanceTimersByTimeAsync(99);
  expect(begun).toEqual(['a', 'a']);
  await vi.advanceTimersByTimeAsync(101);
  expect(begun).toEqual(['a', 'a', 'a']);
  await fail('a', 10_000);
  await vi.advanceTimersByTimeAsync(9_999);
  expect(begun).toHaveLength(3);
  await vi.advanceTimersByTimeAsync(2_501);
  expect(begun).toHaveLength(4);
  expect(errors).toEqual(Array(3).fill('a: slow down'));
  // After a success the waits are short again.
  await end('a');
  queue.add('a');
  await fail('a');
  await vi.advanceTimersByTimeAsync(100);
  expect(begun).toHaveLength(6);
});

test('begins nothing after it was stopped', async () => {
  const { queue, begun, fail, end, stop } = queueOf(1);
  queue.add('a');
  queue.add('b');
  await fail('a');
  stop.abort();
  await end('b');
  queue.add('c');
  await vi.advanceTimersByTimeAsync(60_000);
  expect(begun).toEqual(['a', 'b']);
});
