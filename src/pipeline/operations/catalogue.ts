import { faults } from '../../node/faults/index.ts';
import type { GraphNode } from '../api/operation-set.ts';
import type { Processor } from '../api/processor-of.ts';
import type { BuiltIns } from '../steps/built-ins.ts';
import { coreFileProfiler } from './core-files.ts';
import { diagnoserOf } from './diagnose-fault.ts';
import { dockerProcessors } from './docker.ts';
import { stepsOf } from './fault-steps.ts';
import { OWN_TIMEOUT_SECONDS } from './limits.ts';
import { clusterProcessors } from './needs-cluster.ts';
import { nodeCollectors } from './node-collectors.ts';
import type { OwnProcessor } from './processor-host.ts';
import { recoverProcessorOf } from './recover-fault.ts';
import { containerdGoroutineCollector } from './run-containerd-goroutines.ts';
import { goProfiler } from './run-go-profiler.ts';
import { elasticsearchCollector } from './run-search.ts';
import { sonobuoyResultDiagnoser } from './run-sonobuoy-result.ts';
import { tcpdumpProfiler } from './run-tcpdump.ts';
import { subpathProcessors } from './subpath-remount.ts';

/** All that we can do ourselves, by the path and the name under which a graph knows it. */
export const processors: readonly OwnProcessor[] = [
  ...nodeCollectors,
  ...subpathProcessors,
  goProfiler,
  tcpdumpProfiler,
  containerdGoroutineCollector,
  coreFileProfiler,
  elasticsearchCollector,
  sonobuoyResultDiagnoser,
  ...dockerProcessors,
  ...clusterProcessors,
  ...faults.flatMap((each) => [
    diagnoserOf(each),
    ...(each.recover ? [recoverProcessorOf(each)] : []),
  ]),
];

/** Our own Operations by name, for those that no manifest defines. */
export const ownOperations: ReadonlyMap<string, Processor> = new Map(
  processors.map(({ operation, path }) => [operation, builtIn(path)]),
);

/** The processors that repair this node, by their path, with the fault that each repairs. */
export const repairs: ReadonlyMap<string, string> = new Map(
  processors.flatMap(({ path, repairsFault }) => (repairsFault ? [[path, repairsFault]] : [])),
);

/** A server without an address is this process. */
export function builtIn(path: string): Processor {
  return { way: 'http', path, scheme: 'http', timeoutSeconds: OWN_TIMEOUT_SECONDS };
}

/** A graph that is there without a manifest of it. */
export interface OwnOperationSet {
  readonly name: string;
  readonly adjacencyList: readonly GraphNode[];
}

/** For each fault: find it, then repair it. */
export const ownOperationSets: readonly OwnOperationSet[] = faults.map((fault) => {
  const { set, diagnoser, recover } = stepsOf(fault);
  const steps = fault.recover ? [diagnoser, recover] : [diagnoser];
  return { name: set, adjacencyList: inLine(steps) };
});

export const builtIns: BuiltIns = {
  operations: ownOperations,
  operationSets: new Map(ownOperationSets.map(({ name, adjacencyList }) => [name, adjacencyList])),
};

/** One step after another, behind the start, which runs nothing. */
function inLine(operations: readonly string[]): readonly GraphNode[] {
  const nodes: readonly GraphNode[] = [{}, ...operations.map((operation) => ({ operation }))];
  return nodes.map((node, id) => ({
    id,
    ...(id < operations.length ? { to: [id + 1] } : {}),
    ...node,
  }));
}
