import { faults } from '../../node/faults/index.ts';
import type { GraphNode } from '../api/operation-set.ts';
import type { Processor } from '../api/processor-of.ts';
import { dockerProcessors } from './docker.ts';
import { faultProcessors } from './fault-processors.ts';
import { stepsOf } from './fault-steps.ts';
import { OWN_TIMEOUT_SECONDS } from './limits.ts';
import { clusterProcessors } from './needs-cluster.ts';
import {
  collectContainers,
  collectMountTable,
  collectPodDetail,
  collectPodList,
} from './node-collectors.ts';
import type { OwnProcessor } from './own-processor.ts';
import { processCollector } from './process-collector.ts';
import { profilers } from './profilers.ts';
import { elasticsearchCollector } from './run-search.ts';
import { sonobuoyResultDiagnoser } from './run-sonobuoy-result.ts';
import { diagnoseSubpathRemount, recoverSubpathRemount } from './subpath-remount.ts';

/** All that we can do ourselves, by the path and the name under which a graph knows it. */
export const processors: readonly OwnProcessor[] = [
  {
    path: '/processor/podListCollector',
    operation: 'pod-list-collector',
    does: 'collects all pods of the node from the kubelet',
    reads: [],
    writes: ['collector.kubernetes.pod.list'],
    repairs: false,
    run: collectPodList,
  },
  {
    path: '/processor/podDetailCollector',
    operation: 'pod-detail-collector',
    does: 'collects the pod of the Diagnosis, with the current states of its containers',
    details:
      'The kubelet takes precedence if it reports the same container in the same state, and for waiting ' +
      'reasons and readiness; otherwise the runtime does. If the kubelet does not answer or does not ' +
      'list the pod, the result is what the runtime knows: name, namespace, uid, containers and their ' +
      'states. `collector.kubernetes.pod.detail.unknown` reports that, and a runtime that does not answer. ' +
      'Secrets in words of commands and in the environment are withheld.',
    reads: ['pod.namespace', 'pod.name'],
    writes: ['collector.kubernetes.pod.detail'],
    repairs: false,
    run: collectPodDetail,
  },
  {
    path: '/processor/containerCollector',
    operation: 'container-collector',
    does: 'collects the running containers from the runtime',
    reads: [],
    writes: ['collector.kubernetes.container.list'],
    repairs: false,
    run: collectContainers,
  },
  processCollector,
  {
    path: '/processor/mountInfoCollector',
    operation: 'mount-info-collector',
    does: 'collects the mount table of the node',
    reads: [],
    writes: ['collector.system.mountinfo'],
    repairs: false,
    run: collectMountTable,
  },
  {
    path: '/processor/subpathRemountDiagnoser',
    operation: 'subpath-remount-diagnoser',
    does: 'finds a container that cannot start because its subPath mount lost its source',
    reads: ['collector.kubernetes.pod.detail', 'collector.system.mountinfo'],
    writes: [
      'diagnoser.kubernetes.subpath_remount.result',
      'diagnoser.kubernetes.subpath_remount.bug_link',
      'diagnoser.kubernetes.subpath_remount.original_source_path',
      'diagnoser.kubernetes.subpath_remount.original_destination_path',
    ],
    repairs: false,
    run: diagnoseSubpathRemount,
  },
  {
    path: '/processor/subpathRemountRecover',
    operation: 'subpath-remount-recover',
    does: 'unmounts what that step found, if a new check confirms it',
    reads: ['diagnoser.kubernetes.subpath_remount.original_destination_path'],
    writes: ['recover.kubernetes.subpath_remount.result'],
    repairs: true,
    run: recoverSubpathRemount,
  },
  ...profilers,
  elasticsearchCollector,
  sonobuoyResultDiagnoser,
  ...dockerProcessors,
  ...clusterProcessors,
  ...faultProcessors,
];

/** Our own Operations by name, for those that no manifest defines. */
export const ownOperations: ReadonlyMap<string, Processor> = new Map(
  processors.map(({ operation, path }) => [
    operation,
    { way: 'http', path, scheme: 'http', timeoutSeconds: OWN_TIMEOUT_SECONDS },
  ]),
);

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

/** One step after another, behind the start, which runs nothing. */
function inLine(operations: readonly string[]): readonly GraphNode[] {
  const nodes: readonly GraphNode[] = [{}, ...operations.map((operation) => ({ operation }))];
  return nodes.map((node, id) => ({
    id,
    ...(id < operations.length ? { to: [id + 1] } : {}),
    ...node,
  }));
}
