import { CONTROLLER_STEPS } from '../steps/controller-steps.ts';
import { failedWith, needed, type OperationResult } from '../steps/operation-result.ts';
import { POD_DETAIL } from '../steps/pod-collectors.ts';
import type { OwnProcessor } from './processor-host.ts';

const { nodeCordon, statefulsetDetail, statefulsetStuck } = CONTROLLER_STEPS;
const { result: POD } = POD_DETAIL;
const { name: NAME, namespace: NAMESPACE, result: STATEFULSET } = statefulsetDetail;

const ON_CLUSTER =
  'On a cluster the controller runs it, with rights that `deploy/controller-steps.yaml` grants; without them the ' +
  'step fails. `kubediag serve` and `kubediag run` cannot run it.';
const IN_NAMESPACE = 'Only in the namespace of the Diagnosis.';

/**
 * On a cluster the controller runs these steps. Without one nobody reaches the API server from here: they
 * say so, and change nothing. In the catalogue, a graph that names them can be checked and explained.
 */
export const clusterProcessors: readonly OwnProcessor[] = [
  {
    path: nodeCordon.path,
    operation: nodeCordon.operation,
    does: 'cordons the node',
    details:
      `${ON_CLUSTER} A node that is cordoned already stays as it is. On a node that this step has cordoned, the ` +
      'annotation `diagnosis.kubediag.org/cordoned-by` names the Diagnosis. `kubectl uncordon` undoes it. A Diagnosis ' +
      'with a `podReference` is refused, because the step concerns all pods of the node.',
    reads: [],
    writes: [nodeCordon.result],
    repairs: true,
    forPod: 'refused',
    run: async ({ node = '<node>' }) => needsServer(`kubectl cordon ${node}`),
  },
  {
    path: statefulsetDetail.path,
    operation: statefulsetDetail.operation,
    does: 'collects the StatefulSet of a pod, or a named one',
    details: `${ON_CLUSTER} ${IN_NAMESPACE} Private values of the environment are withheld, as in a pod.`,
    reads: [NAME, NAMESPACE],
    readsElse: [POD],
    writes: [STATEFULSET],
    repairs: false,
    forPod: 'limited',
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
    path: statefulsetStuck.path,
    operation: statefulsetStuck.operation,
    does: 'deletes a pod that blocks the rollout of its StatefulSet',
    details:
      `${ON_CLUSTER} ${IN_NAMESPACE} The pod and the StatefulSet are read again before anything is deleted: the pod ` +
      'must be the one that was collected, on the node of the Diagnosis, and wait for an image that the StatefulSet ' +
      'no longer asks for (kubernetes/kubernetes#67250). Otherwise the step fails and deletes nothing.',
    reads: [STATEFULSET, POD],
    writes: [statefulsetStuck.result, statefulsetStuck.bugLink],
    repairs: true,
    forPod: 'limited',
    async run(input) {
      const missing = [STATEFULSET, POD].find((key) => !input[key]);
      if (missing) return failedWith(needed(missing, 'let its collector be earlier'));
      return needsServer('kubectl delete pod, once you have seen that it is the stuck one');
    },
  },
];

function needsServer(manual: string): OperationResult {
  const why = 'this step needs the controller of a cluster; nothing was changed';
  return failedWith(`${why}; manually: ${manual}`);
}
