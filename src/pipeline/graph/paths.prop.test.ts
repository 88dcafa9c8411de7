import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { GraphNode } from '../api/operation-set.ts';
import { checkGraph } from './check-graph.ts';
import { measurePaths, pathsOf, targetsOf } from './paths.ts';

/** Any list at all: edges to anywhere, nodes without a step. */
const anyGraph: fc.Arbitrary<readonly GraphNode[]> = fc.array(
  fc.record(
    {
      to: fc.array(fc.integer({ min: -1, max: 8 }), { maxLength: 4 }),
      operation: fc.constantFrom('', 'a', 'long-name'),
    },
    { requiredKeys: [] },
  ),
  { maxLength: 8 },
);

/** Edges lead onwards only, and everybody is reached from the one before, or from the start. */
const soundGraph: fc.Arbitrary<readonly GraphNode[]> = fc
  .array(fc.array(fc.nat(20), { maxLength: 4 }), { minLength: 1, maxLength: 9 })
  .map((jumps) => {
    const size = jumps.length + 1;
    const reached = jumps.map((_, index) => index + 1);
    const next = jumps.map((steps, index) => [
      ...new Set(steps.map((step) => index + 2 + step).filter((target) => target < size)),
    ]);
    const missing = reached.filter((index) => !next.some((to) => to.includes(index)));
    return [
      { to: missing },
      ...next.map((to, index) => ({
        operation: `step-${index + 1}`,
        ...(to.length > 0 ? { to } : {}),
      })),
    ];
  });

const isSound = (list: readonly GraphNode[]) =>
  checkGraph(list).every(({ severity }) => severity === 'note');

test('every graph can be checked, and one without problems has an end for every path', () => {
  fc.assert(
    fc.property(anyGraph, (list) => {
      if (!isSound(list)) return;
      const paths = pathsOf(list);
      expect(paths.length).toBeGreaterThan(0);
      const visited = new Set(paths.flat().map(({ id }) => id));
      expect(visited.size).toBe(list.length - 1);
    }),
    { numRuns: 2_000 },
  );
});

test('a graph with forward edges only is valid and has the expected paths', () => {
  fc.assert(
    fc.property(soundGraph, (list) => {
      expect(checkGraph(list)).toEqual([]);
      const paths = pathsOf(list);
      for (const path of paths) {
        const numbers = [0, ...path.map(({ id = -1 }) => id)];
        const edges = numbers
          .slice(1)
          .map((to, at) => targetsOf(list[numbers[at] ?? -1]).includes(to));
        expect(edges.every(Boolean)).toBe(true);
        expect(targetsOf(list[numbers.at(-1) ?? -1])).toEqual([]);
      }
      expect(new Set(paths.map((path) => JSON.stringify(path))).size).toBe(paths.length);
      const { count, bytes } = measurePaths(list);
      expect(count).toBe(paths.length);
      expect(bytes).toBe(JSON.stringify(paths).length);
    }),
  );
});

test('the order of two paths is that of "to" where they part', () => {
  fc.assert(
    fc.property(soundGraph, (list) => {
      const paths = pathsOf(list).map((path) => [0, ...path.map(({ id = -1 }) => id)]);
      for (const [at, path] of paths.slice(1).entries()) {
        const before = paths[at] ?? [];
        const parts = path.findIndex((node, index) => node !== before[index]);
        const order = targetsOf(list[path[parts - 1] ?? -1]);
        const [left = -1, right = -1] = [before[parts], path[parts]];
        expect(order.indexOf(left)).toBeLessThan(order.indexOf(right));
      }
    }),
  );
});
