import { defined } from '../../lib/std/defined.ts';
import type { GraphNode } from '../api/operation-set.ts';

/** A path as a status has it: its nodes whole, without the start. */
export type GraphPath = readonly GraphNode[];

/**
 * Every path from the start to an end, depth first and by the order of `to`, so that whoever writes
 * a graph also says what is tried first. Only for a list without problems: a circle has no end.
 */
export function pathsOf(list: readonly GraphNode[]): readonly GraphPath[] {
  const nodes = list.map(numbered);
  const paths: GraphPath[] = [];
  const path: GraphNode[] = [];
  const walk = (index: number): void => {
    const next = targetsOf(list[index]);
    if (next.length === 0 && path.length > 0) paths.push([...path]);
    for (const target of next) {
      const node = nodes[target];
      if (!node) continue;
      path.push(node);
      walk(target);
      path.pop();
    }
  };
  if (list.length > 0) walk(0);
  return paths;
}

export interface PathsMeasure {
  readonly count: number;
  /** Of all of them as JSON, as in `status.paths`. */
  readonly bytes: number;
}

/** How many paths there are and how large, without making them: there may be 2^100. */
export function measurePaths(list: readonly GraphNode[]): PathsMeasure {
  const known = new Map<number, PathsMeasure>();
  const below = (index: number): PathsMeasure => {
    const before = known.get(index);
    if (before) return before;
    const next = targetsOf(list[index]).map(withNode);
    const sum = next.length === 0 ? { count: 1, bytes: 0 } : total(next);
    known.set(index, sum);
    return sum;
  };
  const withNode = (index: number): PathsMeasure => {
    const { count, bytes } = below(index);
    const own = JSON.stringify(numbered(list[index] ?? {}, index)).length;
    return { count, bytes: bytes + count * (own + COMMA) };
  };
  const { count, bytes } = total(targetsOf(list[0]).map(withNode));
  // Each path has its brackets, and a comma less than nodes; so has the list of them.
  return { count, bytes: count === 0 ? 2 : bytes + 2 * count + 1 };
}

const COMMA = 1;

function total(measures: readonly PathsMeasure[]): PathsMeasure {
  return {
    count: measures.reduce((sum, { count }) => sum + count, 0),
    bytes: measures.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

/** Each target once: who is named twice is not tried twice. */
export function targetsOf(node: GraphNode | undefined): readonly number[] {
  return [...new Set(node?.to)];
}

/** A node's number is its position. Only what the contract knows is copied into a status. */
function numbered({ to, operation, dependences }: GraphNode, id: number): GraphNode {
  return defined({ id, to, operation, dependences });
}
