import { expect, test } from 'vitest';
import { startTimeOf } from './start-time-of.ts';

test('the start time is read past a name with spaces and brackets', () => {
  const stat = '7 (a) b (c)) S 1 7 7 0 -1 4194560 1 0 0 0 1 1 0 0 20 0 14 0 1893 0 0';
  expect(startTimeOf(stat)).toBe(1893);
});

test('a text that is no stat of a process has no start time', () => {
  expect(startTimeOf('')).toBeUndefined();
  expect(startTimeOf('7 (sh) S 1')).toBeUndefined();
});
