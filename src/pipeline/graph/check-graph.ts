import { NODES_MAX } from '../api/limits.ts';
import type { GraphNode } from '../api/operation-set.ts';
import { listed, type Place, type Problem } from '../api/problem.ts';
import { CYCLES_LISTED_MAX, PATHS_BYTES_MAX } from './limits.ts';
import { measurePaths, targetsOf } from './paths.ts';

const LIST: Place = ['spec', 'adjacencyList'];

/** The problems of a graph, with their places in the OperationSet. */
export function checkGraph(list: readonly GraphNode[]): readonly Problem[] {
  const size = sizeProblems(list);
  if (size.length > 0) return size;
  const problems = listed(allProblems(list));
  const isSound = problems.every(({ severity }) => severity === 'note');
  return isSound ? [...problems, ...sizeOfPaths(list)] : problems;
}

function* allProblems(list: readonly GraphNode[]): Generator<Problem> {
  yield* startProblems(list);
  for (const [at, node] of list.entries()) yield* nodeProblems(node, at, list);
  yield* unreachable(list);
  yield* cycles(list);
}

function problem(place: Place, what: string, fix: string): Problem {
  return { severity: 'problem', place: [...LIST, ...place], what, fix };
}

function note(place: Place, what: string, fix: string): Problem {
  return { ...problem(place, what, fix), severity: 'note' };
}

function sizeProblems({ length }: readonly GraphNode[]): readonly Problem[] {
  if (length < 2) {
    const fix = 'begin with a start node, "- to: [1]", followed by a node with an operation';
    return [problem([], 'the graph has no step', fix)];
  }
  if (length <= NODES_MAX) return [];
  const fix = 'split it into several OperationSets';
  return [problem([], `the graph has ${length} nodes, and the limit is ${NODES_MAX}`, fix)];
}

function* startProblems([start]: readonly GraphNode[]): Generator<Problem> {
  if (start?.operation) {
    const fix = 'put a node without operation before it, and add one to all positions';
    const what = `the first node is the start of the graph and cannot have an operation, but has "${start.operation}"`;
    yield problem([0, 'operation'], what, fix);
  }
  if (start?.dependences && start.dependences.length > 0) {
    const what = 'the first node cannot have dependences: no node comes before it';
    yield problem([0, 'dependences'], what, 'remove its dependences');
  }
}

function* nodeProblems(
  { id, operation, to = [] }: GraphNode,
  index: number,
  list: readonly GraphNode[],
): Generator<Problem> {
  if (index > 0 && !operation) {
    yield problem([index], `node ${index} has no operation`, 'set its operation');
  }
  if (id !== undefined && id !== index) {
    const what = `the id of this node is ${id}, but its position in the list is ${index}`;
    yield note([index, 'id'], what, `use "id: ${index}": only the position counts`);
  }
  for (const [at, target] of to.entries()) {
    const place = [index, 'to', at];
    if (to.indexOf(target) < at)
      yield note(place, `node ${target} is listed twice`, 'list it once');
    else yield* edgeProblems(place, index, target, list.length);
  }
}

function edgeProblems(place: Place, from: number, to: number, size: number): readonly Problem[] {
  if (to === from) {
    return [problem(place, `node ${from} leads to itself`, `remove ${to} from its "to"`)];
  }
  if (to === 0) {
    const what = `node ${from} leads back to the start node`;
    return [problem(place, what, 'remove 0 from its "to"')];
  }
  if (to > 0 && to < size) return [];
  const what = `node ${from} leads to node ${to}, which does not exist`;
  return [problem(place, what, `use positions from 1 to ${size - 1}`)];
}

function unreachable(list: readonly GraphNode[]): readonly Problem[] {
  const seen = new Set([0]);
  // The iteration also visits what is added meanwhile.
  for (const index of seen) for (const target of targetsOf(list[index])) seen.add(target);
  return [...list.keys()]
    .filter((index) => !seen.has(index))
    .map((index) => {
      const what = `node ${index} is unreachable from start node`;
      return problem([index], what, `add ${index} to the "to" of another node, or remove the node`);
    });
}

/**
 * One problem for each edge that closes a cycle, up to a limit. Edges to the node itself and to the
 * start have problems of their own.
 */
function cycles(list: readonly GraphNode[]): readonly Problem[] {
  const problems: Problem[] = [];
  const done = new Set<number>();
  const path: number[] = [];
  const walk = (index: number): void => {
    path.push(index);
    for (const target of targetsOf(list[index])) {
      if (problems.length >= CYCLES_LISTED_MAX) return;
      const from = path.indexOf(target);
      if (from >= 0 && target !== index && target !== 0) {
        problems.push(cycle([...path.slice(from), target], list));
      } else if (from < 0 && !done.has(target)) walk(target);
    }
    path.pop();
    done.add(index);
  };
  for (const index of list.keys()) if (!done.has(index)) walk(index);
  return problems;
}

function cycle(nodes: readonly number[], list: readonly GraphNode[]): Problem {
  const [last = 0, back = 0] = nodes.slice(-2);
  const place = [last, 'to', list[last]?.to?.indexOf(back) ?? 0];
  const what = `the graph has a cycle: ${nodes.join(' → ')}`;
  return problem(
    place,
    what,
    `remove ${back} from the "to" of node ${last}, or another edge of the cycle`,
  );
}

function sizeOfPaths(list: readonly GraphNode[]): readonly Problem[] {
  const { count, bytes } = measurePaths(list);
  if (bytes <= PATHS_BYTES_MAX) return [];
  const what =
    `the graph has ${count.toLocaleString('en')} paths, which need ${megabytes(bytes)} MB in its ` +
    `status, and the limit is ${megabytes(PATHS_BYTES_MAX)} MB`;
  return [problem([], what, 'join branches, or split it into several OperationSets')];
}

function megabytes(bytes: number): string {
  return (bytes / 1024 / 1024).toLocaleString('en', { maximumFractionDigits: 1 });
}
