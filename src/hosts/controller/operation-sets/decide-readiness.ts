import { isDeepStrictEqual } from 'node:util';
import { counted } from '../../../lib/std/counted.ts';
import type { GraphNode, OperationSetStatus } from '../../../pipeline/api/operation-set.ts';
import { listed, type Problem, placeText, problem } from '../../../pipeline/api/problem.ts';
import { checkGraph } from '../../../pipeline/graph/check-graph.ts';
import { withCondition } from '../../../pipeline/graph/conditions.ts';
import { pathsOf } from '../../../pipeline/graph/paths.ts';

export interface SeenOperationSet {
  readonly adjacencyList: readonly GraphNode[];
  readonly generation: number;
  readonly status: OperationSetStatus | undefined;
  readonly hasOperation: (name: string) => boolean;
  readonly now: Date;
}

/** The status that an OperationSet should have; undefined if it has it. */
export function decideReadiness(seen: SeenOperationSet): OperationSetStatus | undefined {
  const { adjacencyList, generation, status: before = {}, now } = seen;
  const graph = checkGraph(adjacencyList).filter(({ severity }) => severity === 'problem');
  const problems = graph.length > 0 ? graph : missingOperations(seen);
  const isReady = problems.length === 0;
  const reason = graph.length > 0 ? 'GraphInvalid' : isReady ? 'GraphChecked' : 'OperationsMissing';
  const paths = graph.length > 0 ? undefined : pathsOf(adjacencyList);
  const condition = {
    type: 'Ready',
    status: isReady ? 'True' : 'False',
    reason,
    message: isReady ? `The graph has ${counted(paths?.length ?? 0, 'path')}` : summary(problems),
  } as const;
  const status: OperationSetStatus = {
    ready: isReady,
    ...(paths ? { paths: paths.map((path) => [...path]) } : {}),
    ...(isReady ? {} : { problems: problems.map(written) }),
    conditions: withCondition(before.conditions ?? [], condition, now),
    observedGeneration: generation,
  };
  return isDeepStrictEqual(status, before) ? undefined : status;
}

/** One for each Operation, at the first node that names it. */
function missingOperations({ adjacencyList, hasOperation }: SeenOperationSet): readonly Problem[] {
  const names = adjacencyList.map(({ operation = '' }) => operation);
  const missing = new Set(names.filter((name) => name !== '' && !hasOperation(name)));
  return listed(
    [...missing].map((name) =>
      problem(
        ['spec', 'adjacencyList', names.indexOf(name), 'operation'],
        `Operation ${name} not found`,
        'create it, or name another one: see "kubectl get operations"',
      ),
    ),
  );
}

function summary([first, ...others]: readonly Problem[]): string {
  const { field, what, fix } = written(first ?? problem([], '', ''));
  const more = others.length === 0 ? '' : `; and ${counted(others.length, 'more problem')}`;
  return `${field}: ${what}: ${fix}${more}`;
}

function written({ place, what, fix }: Problem) {
  return { field: placeText(place), what, fix };
}
