import { failedWith, type OperationResult, type StepInput } from './operation-result.ts';
import type { OwnProcessor } from './own-processor.ts';

const POD = 'collector.kubernetes.pod.detail';
const NAME = 'collector.kubernetes.statefulset.name';
const NAMESPACE = 'collector.kubernetes.statefulset.namespace';
const STATEFULSET = 'collector.kubernetes.statefulset.detail.result';

/**
 * Steps whose work is at the API server, which nobody reaches from here: they say so, and change
 * nothing. That they are in the catalogue lets a graph that names them be checked, and be explained.
 */
export const clusterProcessors: readonly OwnProcessor[] = [
  {
    path: '/processor/nodeCordon',
    operation: 'node-cordon',
    does: 'cordons the node (needs the API server)',
    reads: [],
    writes: ['recover.kubernetes.node_cordon.result.name'],
    repairs: true,
    run: ({ node = '<node>' }) => needed(`kubectl cordon ${node}`),
  },
  {
    path: '/processor/statefulsetDetailCollector',
    operation: 'statefulset-detail-collector',
    does: 'collects the StatefulSet of a pod, or a named one (needs the API server)',
    reads: [NAME, NAMESPACE],
    readsElse: [POD],
    writes: [STATEFULSET],
    repairs: false,
    run: (input) => (input[NAME] && input[NAMESPACE] ? collect(input) : collectOwner(input)),
  },
  {
    path: '/processor/statefulsetStuck',
    operation: 'statefulset-stuck',
    does: 'deletes a pod that blocks the rollout of a StatefulSet (needs the API server)',
    reads: [STATEFULSET, POD],
    writes: [
      'recover.kubernetes.statefulset_stuck.result',
      'recover.kubernetes.statefulset_stuck.bug_link',
    ],
    repairs: true,
    run: (input) => {
      const missing = [STATEFULSET, POD].find((key) => !input[key]);
      if (missing !== undefined) return lacking(missing);
      return needed('kubectl delete pod, once you have seen that it is the stuck one');
    },
  },
];

function collect(input: StepInput): Promise<OperationResult> {
  return needed(`kubectl get statefulset -n ${input[NAMESPACE]} ${input[NAME]} -o json`);
}

async function collectOwner(input: StepInput): Promise<OperationResult> {
  if (input[POD]) return needed('kubectl get statefulset -o json');
  const either = `${NAME} and ${NAMESPACE}, or else ${POD}`;
  return failedWith(
    `this step needs ${either}, and nobody gave them: set the first two as parameters`,
  );
}

async function needed(manual: string): Promise<OperationResult> {
  const why = 'this step needs the API server, and a node alone has none; nothing was changed';
  return failedWith(`${why}; manually: ${manual}`);
}

async function lacking(key: string): Promise<OperationResult> {
  return failedWith(`this step needs ${key}, and nobody gave it: let its collector be earlier`);
}
