import { expect, test } from 'vitest';
import { faults } from './index.ts';

test('a fault comes before faults that exist, and no two wait for each other', () => {
  const ids = faults.map(({ id }) => id);
  const pairs = faults.flatMap(({ id, before = [] }) => before.map(({ fault }) => [id, fault]));
  expect(pairs.map(([, later]) => later).filter((later) => !ids.includes(later ?? ''))).toEqual([]);
  const isBack = ([first, later]: readonly (string | undefined)[]) =>
    pairs.some(([other, last]) => other === later && last === first);
  expect(pairs.filter(isBack)).toEqual([]);
});
