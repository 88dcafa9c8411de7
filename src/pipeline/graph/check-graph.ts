import { NODES_MAX } from '../api/limits.ts';
import type { GraphNode } from '../api/operation-set.ts';
import { listed, type Place, type Problem } from '../api/problem.ts';
import { CIRCLES_LISTED_MAX, PATHS_BYTES_MAX } from './limits.ts';
import { measurePaths, targetsOf } from './paths.ts';

const LIST: Place = ['spec', 'adjacencyList'];

/** What stands against walking this graph, each with its place in the OperationSet. */
export function checkGraph(list: readonly GraphNode[]): readonly Problem[] {
  const size = sizeProblems(list);
  if (size.length > 0) return size;
  const problems = listed(allProblems(list));
  const isSound = problems.every(({ severity }) => severity === 'note');
  return isSound ? [...problems, ...largeness(list)] : problems;
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
    const fix = 'begin with a start node, "- to: [1]", and let a node with an operation follow';
    return [problem([], `the graph has ${length} nodes, and so no step`, fix)];
  }
  if (length <= NODES_MAX) return [];
  const fix = 'split it into several OperationSets';
  return [problem([], `the graph has ${length} nodes, of at most ${NODES_MAX}`, fix)];
}

function startProblems([start]: readonly GraphNode[]): readonly Problem[] {
  const problems: Problem[] = [];
  if (start?.operation) {
    const fix = 'put a node without operation before it, and raise all positions by one';
    const what = `the first node is only where the graph starts, and has operation "${start.operation}"`;
    problems.push(problem([0, 'operation'], what, fix));
  }
  if (start?.dependences && start.dependences.length > 0) {
    const what = 'the first node can depend on nothing: nothing comes before it';
    problems.push(problem([0, 'dependences'], what, 'take dependences out of it'));
  }
  return problems;
}

function nodeProblems(
  { id, operation, to = [] }: GraphNode,
  index: number,
  list: readonly GraphNode[],
): readonly Problem[] {
  const problems: Problem[] = [];
  if (index > 0 && !operation) {
    problems.push(problem([index], `node ${index} has no operation`, 'name the Operation of it'));
  }
  if (id !== undefined && id !== index) {
    const what = `this node says that it is number ${id}, but it is number ${index} in the list`;
    problems.push(note([index, 'id'], what, `write "id: ${index}": only the position counts`));
  }
  for (const [at, target] of to.entries()) {
    const place = [index, 'to', at];
    if (to.indexOf(target) < at) {
      problems.push(note(place, `node ${target} is named twice`, 'name it once'));
    } else {
      problems.push(...edgeProblems(place, index, target, list.length));
    }
  }
  return problems;
}

function edgeProblems(place: Place, from: number, to: number, size: number): readonly Problem[] {
  if (to === from) {
    return [problem(place, `node ${from} leads to itself`, `take ${to} out of its "to"`)];
  }
  if (to === 0) {
    const what = `node ${from} leads back to the start node`;
    return [problem(place, what, 'take 0 out of its "to"')];
  }
  if (to > 0 && to < size) return [];
  const what = `node ${from} leads to node ${to}, and there is none`;
  return [problem(place, what, `use positions from 1 to ${size - 1}`)];
}

function unreachable(list: readonly GraphNode[]): readonly Problem[] {
  const seen = new Set([0]);
  // A set that grows while it is walked is walked to its end.
  for (const index of seen) for (const target of targetsOf(list[index])) seen.add(target);
  return [...list.keys()]
    .filter((index) => !seen.has(index))
    .map((index) => {
      const what = `node ${index} is unreachable from start node`;
      return problem([index], what, `name ${index} in the "to" of another node, or remove it`);
    });
}

/**
 * One problem for each edge that closes a circle, up to a limit: who takes out these has others to see.
 * Self edges and edges into the start have theirs.
 */
function cycles(list: readonly GraphNode[]): readonly Problem[] {
  const problems: Problem[] = [];
  const done = new Set<number>();
  const path: number[] = [];
  const walk = (index: number): void => {
    path.push(index);
    for (const target of targetsOf(list[index])) {
      if (problems.length >= CIRCLES_LISTED_MAX) return;
      const from = path.indexOf(target);
      if (from >= 0 && target !== index && target !== 0) {
        problems.push(circle([...path.slice(from), target], list));
      } else if (from < 0 && !done.has(target)) walk(target);
    }
    path.pop();
    done.add(index);
  };
  for (const index of list.keys()) if (!done.has(index)) walk(index);
  return problems;
}

function circle(nodes: readonly number[], list: readonly GraphNode[]): Problem {
  const [last = 0, back = 0] = nodes.slice(-2);
  const place = [last, 'to', list[last]?.to?.indexOf(back) ?? 0];
  const what = `the graph goes round in a circle: ${nodes.join(' → ')}`;
  return problem(place, what, `take ${back} out of the "to" of node ${last}, or turn another edge`);
}

function largeness(list: readonly GraphNode[]): readonly Problem[] {
  const { count, bytes } = measurePaths(list);
  if (bytes <= PATHS_BYTES_MAX) return [];
  const what =
    `the graph has ${count.toLocaleString('en')} paths, which take ${megabytes(bytes)} MB of its ` +
    `status, of at most ${megabytes(PATHS_BYTES_MAX)}`;
  return [problem([], what, 'join branches, or split it into several OperationSets')];
}

function megabytes(bytes: number): string {
  return (bytes / 1024 / 1024).toLocaleString('en', { maximumFractionDigits: 1 });
}
