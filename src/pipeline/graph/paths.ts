import { defined } from '../../lib/std/defined.ts';
import type { GraphNode } from '../api/operation-set.ts';

/** A path as in a status: its nodes without the start. */
export type GraphPath = readonly GraphNode[];

/**
 * Every path from the start to an end, depth first in the order of `to`: the author of a graph decides
 * which is tried first. Only for a list without problems, because a cycle has no end.
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
  /** Of `status.paths` as JSON. */
  readonly bytes: number;
}

/** The number and the size of the paths without building them: there may be 2^100. */
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
  // Each path has brackets and one comma less than nodes, and so has the list.
  return { count, bytes: count === 0 ? 2 : bytes + 2 * count + 1 };
}

const COMMA = 1;

function total(measures: readonly PathsMeasure[]): PathsMeasure {
  return {
    count: measures.reduce((sum, { count }) => sum + count, 0),
    bytes: measures.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

/** Each target once, even if it is listed twice. */
export function targetsOf(node: GraphNode | undefined): readonly number[] {
  return [...new Set(node?.to)];
}

/** With its position as id. Only known fields are copied into a status. */
function numbered({ to, operation, dependences }: GraphNode, id: number): GraphNode {
  return defined({ id, to, operation, dependences });
}
