import { expect, test } from 'vitest';
import { checkAgainAfter } from './check-again.ts';
import { CHECK_UNKNOWN_AGAIN_MS } from './limits.ts';

const checkWith = (verdict: 'found' | 'clear' | 'unknown') => ({
  faults: [{ fault: 'runtime-not-responding', verdict, benign: 0 }],
});

test.each([
  ['clear', 'unknown', undefined, CHECK_UNKNOWN_AGAIN_MS],
  ['found', 'unknown', undefined, CHECK_UNKNOWN_AGAIN_MS],
  ['clear', 'unknown', 1_000, 1_000],
  // An unknown that lasts is for the interval.
  ['unknown', 'unknown', undefined, undefined],
  ['unknown', 'clear', 60_000, 60_000],
  ['clear', 'clear', undefined, undefined],
] as const)('%s, then %s, with a verdict that changes in %s ms', (before, now, inMs, expected) => {
  expect(checkAgainAfter(checkWith(before), checkWith(now), inMs)).toBe(expected);
});

test('the first check is followed by the interval, whatever it could not judge', () => {
  expect(checkAgainAfter(undefined, checkWith('unknown'), undefined)).toBeUndefined();
});
