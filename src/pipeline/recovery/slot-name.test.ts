import { expect, test } from 'vitest';
import { slotName, slotNumber } from './slot-name.ts';

test.each([0, 1, 12, 999_999])('the number of slot %i is in its name', (number) => {
  expect(slotNumber(slotName(number))).toBe(number);
});

test.each([
  'kubediag-recovery-',
  'kubediag-recovery-012',
  'kubediag-recovery--1',
  'kubediag-recovery-1000000',
  'kubediag-recovery-1e3',
  'web-1',
  '1',
])('%s is no name of a slot', (name) => {
  expect(slotNumber(name)).toBeUndefined();
});
