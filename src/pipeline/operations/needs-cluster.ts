import { failedWith, needed, type OperationResult } from '../steps/operation-result.ts';
import type { OwnProcessor } from './processor-host.ts';

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
    forPod: 'nothing',
    run: async ({ node = '<node>' }) => needsServer(`kubectl cordon ${node}`),
  },
  {
    path: '/processor/statefulsetDetailCollector',
    operation: 'statefulset-detail-collector',
    does: 'collects the StatefulSet of a pod, or a named one (needs the API server)',
    reads: [NAME, NAMESPACE],
    readsElse: [POD],
    writes: [STATEFULSET],
    repairs: false,
    forPod: 'nothing',
    async run({ [NAME]: name, [NAMESPACE]: namespace, [POD]: pod }) {
      if (name && namespace) {
        return needsServer(`kubectl get statefulset -n ${namespace} ${name} -o json`);
      }
      if (pod) return needsServer('kubectl get statefulset -o json');
      const either = `${NAME} and ${NAMESPACE}, or else ${POD}`;
      return failedWith(
        `this step needs ${either}, and nobody gave them: set the first two as parameters`,
      );
    },
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
    forPod: 'nothing',
    async run(input) {
      const missing = [STATEFULSET, POD].find((key) => !input[key]);
      if (missing) return failedWith(needed(missing, 'let its collector be earlier'));
      return needsServer('kubectl delete pod, once you have seen that it is the stuck one');
    },
  },
];

function needsServer(manual: string): OperationResult {
  const why = 'this step needs the API server, with rights that no agent has; nothing was changed';
  return failedWith(`${why}; manually: ${manual}`);
}
