import { AGENT_ACCOUNT, CONTROLLER_ACCOUNT, VERBS } from '../../src/pipeline/api/cluster-names.ts';
import { GROUP, RECOVERY_POLICIES } from '../../src/pipeline/api/kind-names.ts';
import type { ManifestDocument } from './manifest-document.ts';
import { type Rule, roleOf, serviceAccount } from './role.ts';

/** What the controller may do. Which fields it may write: see controller-policies.ts. */
const CLUSTER_RULES: readonly Rule[] = [
  {
    apiGroups: [GROUP],
    resources: ['diagnoses'],
    verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
  },
  {
    apiGroups: [GROUP],
    resources: ['operations', 'operationsets'],
    verbs: ['get', 'list', 'watch', 'create', 'update', 'patch'],
  },
  {
    apiGroups: [GROUP],
    resources: [RECOVERY_POLICIES],
    verbs: ['get', 'list', 'watch', 'create'],
  },
  {
    apiGroups: [GROUP],
    resources: ['diagnoses/status', 'operationsets/status', `${RECOVERY_POLICIES}/status`],
    verbs: ['get', 'update', 'patch'],
  },
  // Needed for blockOwnerDeletion, where the API server checks owner references.
  { apiGroups: [GROUP], resources: ['diagnoses/finalizers'], verbs: ['update'] },
  // Of a node without an agent.
  { apiGroups: [GROUP], resources: ['nodereports'], verbs: ['delete'] },
  // It creates a Diagnosis for each node of one whose author was asked for these verbs.
  { apiGroups: [GROUP], resources: ['diagnoses'], verbs: [VERBS.recover] },
  { apiGroups: [GROUP], resources: ['nodes'], verbs: [VERBS.diagnose] },
  { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch'] },
  // The condition of a node without an agent is removed.
  { apiGroups: [''], resources: ['nodes/status'], verbs: ['patch'] },
  { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] },
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
  // Whether this API server enforces the policies below.
  {
    apiGroups: ['admissionregistration.k8s.io'],
    resources: ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'],
    verbs: ['get', 'list'],
  },
];

const NAMESPACE_RULES: readonly Rule[] = [
  {
    apiGroups: ['coordination.k8s.io'],
    resources: ['leases'],
    verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
  },
  {
    apiGroups: ['apps'],
    resources: ['daemonsets'],
    resourceNames: [AGENT_ACCOUNT],
    verbs: ['get'],
  },
];

export const controllerAccess: readonly ManifestDocument[] = [
  serviceAccount(CONTROLLER_ACCOUNT, 'The account of the controller.'),
  ...roleOf(CONTROLLER_ACCOUNT, {
    name: CONTROLLER_ACCOUNT,
    comment:
      'The controller has no right to change pods, nodes or StatefulSets. The built-in steps that do need\n' +
      'controller-steps.yaml as well.',
    isClusterRole: true,
    rules: CLUSTER_RULES,
  }),
  ...roleOf(CONTROLLER_ACCOUNT, {
    name: CONTROLLER_ACCOUNT,
    comment:
      'Its own Lease, and those that limit recoveries; whether the agents are still installed.',
    rules: NAMESPACE_RULES,
  }),
];
