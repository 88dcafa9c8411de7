import { expect, test } from 'vitest';
import { idempotencyKeyOf } from './idempotency-key.ts';
import type { StepToRun } from './step-to-run.ts';

function keyOf(purpose: string, pathIndex: number, nodeIndex: number): string {
  const status = { checkpoint: { pathIndex, nodeIndex } };
  const diagnosis = { status } as StepToRun['diagnosis'];
  return idempotencyKeyOf({ purpose, diagnosis });
}

test('the same step has the same key each time, and every other step another one', () => {
  const key = keyOf('u/1/default/web', 0, 1);
  expect(key).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(keyOf('u/1/default/web', 0, 1)).toBe(key);
  const others = [
    keyOf('u/2/default/web', 0, 2),
    keyOf('v/1/default/web', 0, 1),
    // The same node of the graph in the next path.
    keyOf('u/1/default/web', 1, 1),
  ];
  expect(new Set([key, ...others])).toHaveProperty('size', 4);
});
