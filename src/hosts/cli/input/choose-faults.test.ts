import { expect, test } from 'vitest';
import { faults } from '../../../node/faults/index.ts';
import { inRepairOrder } from './choose-faults.ts';

test('each fault comes after those whose repair it waits for, whatever the order of the list', () => {
  for (const all of [faults, faults.toReversed()]) {
    const ids = inRepairOrder(all).map(({ id }) => id);
    expect(ids.toSorted()).toEqual(faults.map(({ id }) => id).toSorted());
    const at = (id: string) => ids.indexOf(id);
    expect(at('dead-volume-mount')).toBeLessThan(at('orphaned-volume-metadata'));
    expect(at('dead-volume-mount')).toBeLessThan(at('leftover-volume-directory'));
  }
});

test('faults that wait for each other are each there once', () => {
  const [first, second] = faults;
  if (!first || !second) throw new Error('there are two');
  const before = (fault: string) => [{ fault, on: 'node' as const, why: 'of a mistake' }];
  const all = [
    { ...first, before: before(second.id) },
    { ...second, before: before(first.id) },
  ];
  expect(inRepairOrder(all)).toHaveLength(2);
});
