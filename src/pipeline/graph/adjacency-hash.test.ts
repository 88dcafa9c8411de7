import { expect, test } from 'vitest';
import { adjacencyHash } from './adjacency-hash.ts';

const chain = (...operations: readonly string[]) => [
  { to: [1] },
  ...operations.map((operation, at) =>
    at + 1 < operations.length ? { operation, to: [at + 2] } : { operation },
  ),
];

// The first is printed in the quick start of KubeDiag; the others follow from the algorithm.
test.each([
  ['quick start', chain('http-operation'), '864dcbdbfb'],
  ['one step', chain('pod-list-collector'), '548bcb5d96'],
  [
    'subpath remount',
    chain(
      'pod-detail-collector',
      'mount-info-collector',
      'subpath-remount-diagnoser',
      'subpath-remount-recover',
    ),
    'b9f84cb4c',
  ],
  [
    'shortcut',
    [
      { to: [1, 2] },
      { operation: 'pod-list-collector', to: [2] },
      { operation: 'core-file-profiler' },
    ],
    '569b4b6c8',
  ],
  [
    'docker',
    chain(
      'docker-info-collector',
      'dockerd-goroutine-collector',
      'containerd-goroutine-collector',
      'node-cordon',
    ),
    'c7f498c6b',
  ],
  [
    'dependences',
    [{ to: [1] }, { operation: 'a', to: [2] }, { operation: 'b', dependences: [1] }],
    '669478c8bc',
  ],
  ['an empty list', [{ to: [1] }, { operation: 'http-operation', to: [] }], 'f95869c55'],
])('%s', (_, list, label) => {
  expect(adjacencyHash(list)).toBe(label);
});

test('the id of a node is its position', () => {
  const list = [
    { id: 7, to: [1] },
    { id: 9, operation: 'http-operation' },
  ];
  expect(adjacencyHash(list)).toBe('864dcbdbfb');
});
