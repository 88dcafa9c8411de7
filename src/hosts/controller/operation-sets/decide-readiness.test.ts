import { expect, test } from 'vitest';
import type { GraphNode, OperationSetStatus } from '../../../pipeline/api/operation-set.ts';
import { PATHS_BYTES_MAX } from '../../../pipeline/graph/limits.ts';
import { decideReadiness } from './decide-readiness.ts';

const NOW = new Date('2026-01-02T03:04:05Z');
const STEP: readonly GraphNode[] = [{ to: [1] }, { operation: 'a' }];

function decided(adjacencyList: readonly GraphNode[], more: object = {}) {
  const seen = { generation: 7, status: undefined, hasOperation: () => true, now: NOW };
  return decideReadiness({ ...seen, adjacencyList, ...more });
}

const ready = (status: OperationSetStatus | undefined) => status?.conditions?.[0];

test('a sound graph whose Operations exist is ready, with its paths', () => {
  expect(decided([{ to: [1, 2] }, { operation: 'a' }, { operation: 'b' }])).toEqual({
    ready: true,
    paths: [[{ id: 1, operation: 'a' }], [{ id: 2, operation: 'b' }]],
    observedGeneration: 7,
    conditions: [
      {
        type: 'Ready',
        status: 'True',
        reason: 'GraphChecked',
        message: 'The graph has 2 paths',
        lastTransitionTime: '2026-01-02T03:04:05Z',
      },
    ],
  });
});

test('a graph that cannot run has problems and no paths', () => {
  const cycle = [
    { to: [1] },
    { operation: 'a', to: [2] },
    { operation: 'b', to: [1] },
    { operation: 'c' },
  ];
  const status = decided(cycle, { hasOperation: () => false });
  expect(status?.ready).toBe(false);
  expect(status?.paths).toBeUndefined();
  expect(status?.problems?.map(({ field }) => field)).toEqual([
    'spec.adjacencyList[3]',
    'spec.adjacencyList[2].to[0]',
  ]);
  expect(ready(status)).toMatchObject({ status: 'False', reason: 'GraphInvalid' });
  expect(ready(status)?.message).toBe(
    'spec.adjacencyList[3]: node 3 is unreachable from start node: add 3 to the "to" of another node, ' +
      'or remove the node; and 1 more problem',
  );
});

test('a graph with too many paths is a problem and not a status that no server accepts', () => {
  // Two nodes in each of 30 layers: 2^30 paths.
  const layers = Array.from({ length: 30 }, (_, at) => {
    const to = at === 29 ? {} : { to: [2 * at + 3, 2 * at + 4] };
    return [
      { operation: 'a', ...to },
      { operation: 'b', ...to },
    ];
  }).flat();
  const status = decided([{ to: [1, 2] }, ...layers]);
  expect(ready(status)).toMatchObject({ status: 'False', reason: 'GraphInvalid' });
  expect(JSON.stringify(status).length).toBeLessThan(PATHS_BYTES_MAX);
});

test('each missing Operation is a problem once, and the paths are there', () => {
  const list = [
    { to: [1] },
    { operation: 'a', to: [2] },
    { operation: 'b', to: [3] },
    { operation: 'b' },
  ];
  const status = decided(list, { hasOperation: (name: string) => name === 'a' });
  expect(status?.problems).toEqual([
    {
      field: 'spec.adjacencyList[2].operation',
      what: 'Operation b not found',
      fix: 'create it, or name another one: see "kubectl get operations"',
    },
  ]);
  expect(status?.paths).toHaveLength(1);
  expect(ready(status)).toMatchObject({ status: 'False', reason: 'OperationsMissing' });
});

test('notes are no problems', () => {
  expect(decided([{ id: 4, to: [1, 1] }, { operation: 'a' }])?.ready).toBe(true);
});

test('an unchanged status is not written again', () => {
  const status = decided(STEP);
  const later = new Date('2026-01-03T00:00:00Z');
  expect(decided(STEP, { status, now: later })).toBeUndefined();
  const changed = decided(STEP, { status, now: later, generation: 8 });
  expect(changed?.observedGeneration).toBe(8);
  // The time of the change from False to True, and not of this write.
  expect(ready(changed)?.lastTransitionTime).toBe('2026-01-02T03:04:05Z');
});

test('the condition changes with the Operations', () => {
  const before = decided(STEP);
  const later = new Date('2026-01-03T00:00:00Z');
  const missing = decided(STEP, { status: before, hasOperation: () => false, now: later });
  expect(missing?.ready).toBe(false);
  expect(ready(missing)?.lastTransitionTime).toBe('2026-01-03T00:00:00Z');
  const again = decided(STEP, { status: missing, now: later });
  expect(again).toMatchObject({ ready: true });
  expect(again).not.toHaveProperty('problems');
});
