import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RecoveryPolicySpec } from '../api/recovery-policy.ts';
import { modeFor } from './mode-for.ts';
import { policyIn } from './seen-policy.ts';
import { slotCount, usableBelow, usableSlots } from './slot-count.ts';

test.each<[RecoveryPolicySpec['maxConcurrentNodes'], number, number]>([
  [undefined, 500, 1],
  [3, 500, 3],
  [3, 1, 3],
  ['10%', 500, 50],
  ['10%', 19, 1],
  ['10%', 20, 2],
  ['1%', 0, 1],
  ['100%', 5_000, 1_000],
])('%s of %i nodes: %i slots', (maxConcurrentNodes, nodes, slots) => {
  expect(slotCount(maxConcurrentNodes, nodes)).toBe(slots);
});

function usable(
  spec: RecoveryPolicySpec,
  slots: number,
  observedGeneration: number,
  held: readonly number[] = [],
): number {
  const policy = policyIn({
    metadata: { generation: 2 },
    spec,
    status: { slots, observedGeneration },
  });
  if (policy.state === 'unusable') throw new Error(policy.why);
  return usableSlots(policy, held);
}

test('an older status does not permit more than the new spec', () => {
  expect(usable({ maxConcurrentNodes: 10 }, 10, 2)).toBe(10);
  expect(usable({ maxConcurrentNodes: 2 }, 10, 1)).toBe(2);
  expect(usable({ maxConcurrentNodes: 20 }, 10, 1)).toBe(10);
  expect(usable({ maxConcurrentNodes: '10%' }, 10, 1)).toBe(1);
  expect(usable({}, 10, 1)).toBe(1);
});

test('nodes that hold slots beyond the new limit count too, until the controller counts them', () => {
  expect(usable({ maxConcurrentNodes: 3 }, 10, 1, [0, 5, 6])).toBe(1);
  expect(usable({ maxConcurrentNodes: 2 }, 10, 1, [5, 6, 7])).toBe(0);
  expect(usable({ maxConcurrentNodes: 3 }, 1, 2, [0, 5, 6])).toBe(1);
  // The controller had not seen the last one.
  expect(usable({ maxConcurrentNodes: 2 }, 2, 2, [4])).toBe(1);
});

test('of a percentage too, nodes count that hold slots which the controller had not seen held', () => {
  const policy = policyIn({
    metadata: { generation: 2 },
    spec: { maxConcurrentNodes: '10%' },
    status: {
      ...{ slots: 2, observedGeneration: 2 },
      nodesInRecovery: [0, 7].map((slot) => ({
        ...{ nodeName: `web-${slot}`, lease: `kubediag-recovery-${slot}` },
      })),
    },
  });
  if (policy.state === 'unusable') throw new Error(policy.why);
  // It counted 3 nodes, and slot 7 is one of them.
  expect(usableSlots(policy, [0, 7])).toBe(2);
  expect(usableSlots(policy, [0, 7, 8])).toBe(1);
  expect(usableSlots(policy, [7, 8, 9])).toBe(0);
  // Slot 7 is free by now: the controller says how many more may be used.
  expect(usableSlots(policy, [])).toBe(2);
  expect(usableSlots(policy, [8])).toBe(2);
});

test('whatever the controller had seen, no more nodes than its limit get a slot', () => {
  const numbers = fc.uniqueArray(fc.nat(12), { maxLength: 12 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 12 }), numbers, numbers, (limit, seen, held) => {
      const slots = usableBelow(limit, seen);
      const nodesInRecovery = seen.map((slot) => ({
        ...{ nodeName: `web-${slot}`, lease: `kubediag-recovery-${slot}` },
      }));
      const policy = policyIn({
        metadata: { generation: 2 },
        spec: { maxConcurrentNodes: '10%' },
        status: { slots, observedGeneration: 2, nodesInRecovery },
      });
      if (policy.state === 'unusable') throw new Error(policy.why);
      const below = usableSlots(policy, held);
      const beyond = held.filter((number) => number >= below).length;
      if (below > 0) expect(below + beyond).toBeLessThanOrEqual(limit);
    }),
  );
});

test('nodes that go on beyond the usable slots and those that get one are never more than the limit', () => {
  const held = fc.uniqueArray(fc.nat(12), { maxLength: 12 });
  fc.assert(
    fc.property(fc.nat(12), held, (limit, numbers) => {
      const first = usableBelow(limit, numbers);
      const most = first + numbers.filter((number) => number >= first).length;
      if (first > 0) expect(most).toBeLessThanOrEqual(limit);
      if (numbers.every((number) => number < limit)) {
        expect(first).toBe(limit);
      }
    }),
  );
});

test('whatever the cluster, no more slots are used than the controller will create', () => {
  const max = fc.oneof(
    fc.integer({ min: 1, max: 1_000 }),
    fc.integer({ min: 1, max: 100 }).map((percent) => `${percent}%`),
  );
  fc.assert(
    fc.property(max, max, fc.nat(10_000), (before, now, nodes) => {
      const seen = usable({ maxConcurrentNodes: now }, slotCount(before, nodes), 1);
      expect(seen).toBeLessThanOrEqual(slotCount(now, nodes));
      expect(seen).toBeGreaterThanOrEqual(1);
    }),
  );
});

test('the strictest of Diagnosis and policy counts', () => {
  const policy = { faults: [{ name: 'a', recovery: 'Approval' as const }] };
  expect(modeFor(policy, 'a', undefined)).toBe('Approval');
  expect(modeFor(policy, 'a', 'Never')).toBe('Never');
  expect(modeFor(policy, 'b', undefined)).toBe('Automatic');
  expect(modeFor({}, 'a', 'Approval')).toBe('Approval');
});
