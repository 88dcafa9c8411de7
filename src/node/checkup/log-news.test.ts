import { expect, test } from 'vitest';
import { PROBE_LINES_MAX, PROBE_NEWS_MS } from './limits.ts';
import { LogNews } from './log-news.ts';

const FAILED = (time: string) =>
  `E0102 ${time}    812 remote_runtime.go:251] "StartContainer failed"`;

test('an error that is repeated is no news, and another one is', () => {
  const news = new LogNews();
  news.add([], 0);
  expect(news.count).toBe(0);
  news.add([FAILED('03:00:01.2')], 0);
  news.add([FAILED('03:00:11.9'), FAILED('03:00:12.9')], 2_000);
  expect(news.count).toBe(1);
  news.add([FAILED('03:00:21.9'), 'E0102 volume is busy'], 4_000);
  expect(news.count).toBe(2);
});

test('an error that comes back after a while is news', () => {
  const news = new LogNews();
  for (const nowMs of [0, PROBE_NEWS_MS - 1, 2 * PROBE_NEWS_MS - 2]) news.add(['again'], nowMs);
  expect(news.count).toBe(1);
  news.add(['again'], 3 * PROBE_NEWS_MS - 2);
  expect(news.count).toBe(2);
});

test('of many different errors the newest are remembered', () => {
  const news = new LogNews();
  const names = Array.from({ length: PROBE_LINES_MAX + 1 }, (_, index) => 'x'.repeat(index + 1));
  news.add(names, 0);
  news.add(names.slice(1), 1);
  expect(news.count).toBe(1);
  news.add(names.slice(0, 1), 2);
  expect(news.count).toBe(2);
});
