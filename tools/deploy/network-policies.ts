import {
  AGENT_ACCOUNT,
  CONTROLLER_ACCOUNT,
  METRICS_LABEL,
  NAMESPACE,
} from '../../src/pipeline/api/cluster-names.ts';
import { CONTROLLER_PORT, CONTROLLER_SELECTOR } from './controller-deployment.ts';
import { AGENT_PORT, AGENT_SELECTOR } from './daemon-set.ts';
import { LABELS, type ManifestDocument } from './manifest-document.ts';

const policy = (name: string, podSelector: object, ingress: readonly object[]) => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name, namespace: NAMESPACE, labels: LABELS },
  spec: { podSelector, policyTypes: ['Ingress'], ingress },
});

const tcp = (port: number) => [{ protocol: 'TCP', port }];

/**
 * Egress is not limited: NetworkPolicy has no name for the API server, and agents ask the servers that
 * Operations name.
 */
export const networkPolicies: readonly ManifestDocument[] = [
  {
    comment:
      'Results are fetched through the API server, for which NetworkPolicy has no name: it comes from an address of\n' +
      'a node. So this port is open to all. Without the random key in the status of a Diagnosis, a client gets no\n' +
      'result. docs/rights.md says how to admit only the addresses of your control plane.',
    object: policy(AGENT_ACCOUNT, { matchLabels: AGENT_SELECTOR }, [{ ports: tcp(AGENT_PORT) }]),
  },
  {
    comment:
      'Only Prometheus has a reason to connect to the controller, from a namespace with this label. Probes of the\n' +
      'kubelet always pass.',
    object: policy(CONTROLLER_ACCOUNT, { matchLabels: CONTROLLER_SELECTOR }, [
      {
        from: [{ namespaceSelector: { matchLabels: { [METRICS_LABEL]: 'allow' } } }],
        ports: tcp(CONTROLLER_PORT),
      },
    ]),
  },
];
