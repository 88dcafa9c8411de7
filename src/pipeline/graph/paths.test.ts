import { describe, expect, test } from 'vitest';
import type { GraphNode } from '../api/operation-set.ts';
import { checkGraph } from './check-graph.ts';
import { measurePaths, pathsOf } from './paths.ts';

/** "0:1,2;1:2;2:" as a list: node 0 leads to 1 and 2, node 1 to 2. */
function graph(text: string) {
  return text.split(';').map((node) => {
    const [index = '', targets = ''] = node.split(':');
    const to = targets === '' ? {} : { to: targets.split(',').map(Number) };
    return index === '0' ? to : { ...to, operation: `step-${index}` };
  });
}

const numbers = (text: string) =>
  pathsOf(graph(text)).map((path) => path.map(({ id }) => id).join(' '));

describe('paths, depth first and in the order of "to"', () => {
  test.each([
    ['one node', '0:', []],
    [
      'nine paths',
      '0:1,2,3;1:4,5;2:5;3:6;4:7,8;5:3,6,7;6:8;7:;8:',
      ['1 4 7', '1 4 8', '1 5 3 6 8', '1 5 6 8', '1 5 7', '2 5 3 6 8', '2 5 6 8', '2 5 7', '3 6 8'],
    ],
    ['a chain', '0:1;1:2;2:3;3:4;4:', ['1 2 3 4']],
    ['a shortcut', '0:1,2;1:2;2:', ['1 2', '2']],
    ['three roots', '0:1,2,3;1:4;2:5;3:6;4:7,8;5:8;6:;7:;8:', ['1 4 7', '1 4 8', '2 5 8', '3 6']],
    ['two alternatives', '0:1,2;1:;2:', ['1', '2']],
    ['the second first', '0:2,1;1:;2:', ['2', '1']],
    ['a diamond', '0:1;1:2,3;2:4;3:4;4:', ['1 2 4', '1 3 4']],
    ['a target named twice', '0:1,1;1:', ['1']],
  ])('%s', (_, text, expected) => {
    expect(numbers(text)).toEqual(expected);
    expect(numbers(text)).toEqual(expected);
    expect(measurePaths(graph(text)).count).toBe(expected.length);
  });

  test('an empty list has none', () => {
    expect(pathsOf([])).toEqual([]);
  });

  test('copies nodes completely, with their position as id', () => {
    const list = [
      { to: [1] },
      { id: 9, operation: 'a', to: [2], unknown: 'x' },
      { operation: 'b', dependences: [1] },
    ];
    expect(pathsOf(list)).toEqual([
      [
        { id: 1, operation: 'a', to: [2] },
        { id: 2, operation: 'b', dependences: [1] },
      ],
    ]);
  });

  test.each(['0:', '0:1;1:', '0:1,2;1:2;2:', '0:1,2,3;1:4,5;2:5;3:6;4:7,8;5:3,6,7;6:8;7:;8:'])(
    'are measured without being made: %s',
    (text) => {
      const { bytes } = measurePaths(graph(text));
      expect(bytes).toBe(JSON.stringify(pathsOf(graph(text))).length);
    },
  );
});

/** k diamonds one after another: 2^k paths. */
function diamonds(k: number) {
  const list: GraphNode[] = [{ to: [1] }];
  for (let at = 0; at < k; at += 1) {
    const first = 3 * at + 1;
    list.push({ operation: 'fork', to: [first + 1, first + 2] });
    list.push({ operation: 'left', to: [first + 3] }, { operation: 'right', to: [first + 3] });
  }
  return [...list, { operation: 'end' }];
}

describe('problems of a graph', () => {
  const reported = (list: Parameters<typeof checkGraph>[0]) =>
    checkGraph(list).map(
      ({ severity, place, what }) => `${severity} ${place.slice(2).join('.')}: ${what}`,
    );

  test.each([
    ['a cycle', '0:1;1:2;2:1', ['problem 2.to.0: the graph has a cycle: 1 → 2 → 1']],
    [
      'two cycles',
      '0:1,3;1:2;2:1;3:4;4:5;5:3',
      [
        'problem 2.to.0: the graph has a cycle: 1 → 2 → 1',
        'problem 5.to.0: the graph has a cycle: 3 → 4 → 5 → 3',
      ],
    ],
    ['an edge into the start', '0:1;1:0', ['problem 1.to.0: node 1 leads back to the start node']],
    ['an unreachable node', '0:1;1:;2:', ['problem 2: node 2 is unreachable from start node']],
    [
      'a circle that nobody enters',
      '0:1;1:;2:3;3:2',
      [
        'problem 2: node 2 is unreachable from start node',
        'problem 3: node 3 is unreachable from start node',
        'problem 3.to.0: the graph has a cycle: 2 → 3 → 2',
      ],
    ],
    ['a self edge', '0:1;1:1', ['problem 1.to.0: node 1 leads to itself']],
    ['out of range', '0:1;1:7', ['problem 1.to.0: node 1 leads to node 7, which does not exist']],
    ['below it', '0:1;1:-1', ['problem 1.to.0: node 1 leads to node -1, which does not exist']],
    ['a self edge of the start', '0:0,1;1:', ['problem 0.to.0: node 0 leads to itself']],
    ['a start that leads nowhere', '0:;1:', ['problem 1: node 1 is unreachable from start node']],
    ['too short', '0:', ['problem : the graph has no step']],
    ['a target named twice', '0:1,1;1:', ['note 0.to.1: node 1 is listed twice']],
    ['nothing', '0:1,2;1:2;2:', []],
  ])('%s', (_, text, expected) => {
    expect(reported(graph(text))).toEqual(expected);
  });

  test('reports a missing target beside existing ones', () => {
    expect(checkGraph(graph('0:1,2;1:7;2:'))).toMatchObject([{ fix: 'use positions from 1 to 2' }]);
  });

  test('an empty list', () => {
    expect(reported([])).toEqual(['problem : the graph has no step']);
  });

  test('only the start node has no operation, and ids are positions', () => {
    const list = [
      { operation: 'a', dependences: [1], to: [1] },
      { id: 4, operation: '' },
    ];
    expect(reported(list)).toEqual([
      'problem 0.operation: the first node is the start of the graph and cannot have an operation, but has "a"',
      'problem 0.dependences: the first node cannot have dependences: no node comes before it',
      'problem 1: node 1 has no operation',
      'note 1.id: the id of this node is 4, but its position in the list is 1',
    ]);
  });

  test('more nodes than allowed', () => {
    const list = Array.from({ length: 501 }, () => ({}));
    expect(reported(list)).toEqual(['problem : the graph has 501 nodes, and the limit is 500']);
  });

  test('limits the problems of a graph', () => {
    const others = Array.from({ length: 499 }, (_, at) => at + 1);
    const complete = others.map((own) => {
      return { operation: 'a', to: others.filter((each) => each !== own) };
    });
    const circles = reported([{ to: [1] }, ...complete]);
    expect(circles).toHaveLength(20);
    expect(circles[0]).toContain('the graph has a cycle: 1 → 2 → 1');

    const far = others.map(() => ({ operation: 'a', to: others.map((each) => each + 1_000) }));
    const edges = reported([{ to: others }, ...far]);
    expect(edges).toHaveLength(101);
    expect(edges.at(-1)).toBe('problem : 248901 more problems');
  });

  test('more paths than a status can have', () => {
    expect(reported(diamonds(8))).toEqual([]);
    expect(reported(diamonds(12))[0]).toContain('the graph has 4,096 paths, which need ');
    expect(reported(diamonds(12))[0]).toContain(' MB in its status, and the limit is 0.5');
    expect(reported(diamonds(100))[0]).toContain('the graph has 1,267,650,600,228,');
  });
});
