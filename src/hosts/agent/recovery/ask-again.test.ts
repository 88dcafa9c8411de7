import { expect, test } from 'vitest';
import { nextAskMs } from './ask-again.ts';

const NOW = new Date('2026-01-05T12:00:00Z');
const seconds = (count: number) => new Date(NOW.getTime() + count * 1_000);

test('a waiting agent asks after 5 s at first and 60 s at last, at a random moment', () => {
  const bounds = (count: number) =>
    [0, 1].map((random) => Math.round(nextAskMs(count, undefined, NOW, () => random) / 100) / 10);
  expect([0, 1, 2, 3, 5, 50].map(bounds)).toEqual([
    [5, 6],
    [8.1, 9.6],
    [12.9, 15.4],
    [20.6, 24.6],
    [50.4, 60],
    [50.4, 60],
  ]);
});

test('it asks soon after a window opens, and earlier if that is far away', () => {
  expect(nextAskMs(9, seconds(20), NOW, () => 0)).toBe(20_000);
  expect(nextAskMs(9, seconds(20), NOW, () => 1)).toBe(30_000);
  expect(nextAskMs(9, seconds(3_600), NOW, () => 1)).toBe(60_000);
  expect(nextAskMs(9, seconds(-5), NOW, () => 0)).toBe(0);
});
