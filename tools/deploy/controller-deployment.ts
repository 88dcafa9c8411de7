import { CONTROLLER_ACCOUNT, NAMESPACE } from '../../src/pipeline/api/cluster-names.ts';
import { LABELS, type ManifestDocument } from './manifest-document.ts';
import {
  deployedImage,
  NODE_SELECTOR,
  POD_ENVIRONMENT,
  probe,
  withoutRights,
} from './pod-parts.ts';

export const CONTROLLER_PORT = 8091;
const USER = 10_091;
export const CONTROLLER_SELECTOR = { 'app.kubernetes.io/name': CONTROLLER_ACCOUNT };
const labels = { ...LABELS, ...CONTROLLER_SELECTOR };
const metadata = { name: CONTROLLER_ACCOUNT, namespace: NAMESPACE, labels };

/** A node that fails is left sooner than after the usual 5 minutes: a Diagnosis may be about it. */
const LEAVE_SECONDS = 30;
const leaves = (key: string) => ({
  key: `node.kubernetes.io/${key}`,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: LEAVE_SECONDS,
});

const apartFromEachOther = (topologyKey: string, weight: number) => ({
  weight,
  podAffinityTerm: { topologyKey, labelSelector: { matchLabels: CONTROLLER_SELECTOR } },
});

const container = (version: string) => ({
  name: 'controller',
  image: deployedImage(version),
  command: ['kubediag', 'controller', `--listen=:${CONTROLLER_PORT}`],
  env: POD_ENVIRONMENT,
  ports: [{ name: 'http', containerPort: CONTROLLER_PORT }],
  readinessProbe: { ...probe('/readyz'), periodSeconds: 5 },
  livenessProbe: { ...probe('/healthz'), initialDelaySeconds: 10, failureThreshold: 6 },
  // 10,000 Diagnoses fit.
  resources: { requests: { cpu: '10m', memory: '96Mi' }, limits: { memory: '256Mi' } },
  securityContext: withoutRights(USER),
});

const podSpec = (version: string) => ({
  serviceAccountName: CONTROLLER_ACCOUNT,
  automountServiceAccountToken: true,
  enableServiceLinks: false,
  priorityClassName: 'system-cluster-critical',
  nodeSelector: NODE_SELECTOR,
  tolerations: [
    { key: 'CriticalAddonsOnly', operator: 'Exists' },
    ...['control-plane', 'master'].map((role) => ({
      key: `node-role.kubernetes.io/${role}`,
      operator: 'Exists',
      effect: 'NoSchedule',
    })),
    leaves('not-ready'),
    leaves('unreachable'),
  ],
  // On one node both replicas run there. Of two topologySpreadConstraints the scheduler ignores both where
  // nodes have no zone.
  affinity: {
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        apartFromEachOther('kubernetes.io/hostname', 100),
        apartFromEachOther('topology.kubernetes.io/zone', 50),
      ],
    },
  },
  terminationGracePeriodSeconds: 30,
  securityContext: {
    runAsNonRoot: true,
    // Before v1.19 a kubelet gives the token to root and to this group only.
    fsGroup: USER,
    seccompProfile: { type: 'RuntimeDefault' },
  },
  containers: [container(version)],
});

/** Gives Diagnoses to nodes and limits repairs. Without it, agents finish what they have. */
export const controllerDeployment = (version: string): readonly ManifestDocument[] => [
  {
    comment: 'Of two replicas one works; the other takes over within seconds.',
    object: {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec: {
        replicas: 2,
        selector: { matchLabels: CONTROLLER_SELECTOR },
        // A full node can replace them one by one.
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } },
        template: { metadata: { labels }, spec: podSpec(version) },
      },
    },
  },
  {
    comment: 'A drain of nodes evicts one replica at a time.',
    object: {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata,
      spec: {
        maxUnavailable: 1,
        selector: { matchLabels: CONTROLLER_SELECTOR },
        unhealthyPodEvictionPolicy: 'AlwaysAllow',
      },
    },
  },
];
