import { expect, test } from 'vitest';
import { faults } from './index.ts';

type Pair = readonly [first: string, later: string];

/** The pairs that allow no order, because they are part of a circle or lead to one. */
function withoutOrder(pairs: readonly Pair[]): readonly Pair[] {
  const isAwaited = new Set(pairs.map(([first]) => first));
  const left = pairs.filter(([, later]) => isAwaited.has(later));
  return left.length === pairs.length ? left : withoutOrder(left);
}

test('a fault comes before faults that exist, and there is an order of all of them', () => {
  const ids = faults.map(({ id }) => id);
  const pairs = faults.flatMap(({ id, before = [] }) =>
    before.map(({ fault }): Pair => [id, fault]),
  );
  expect(pairs.filter(([, later]) => !ids.includes(later))).toEqual([]);
  expect(withoutOrder(pairs)).toEqual([]);
});
