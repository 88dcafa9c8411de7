import { AGENT_ACCOUNT, NAMESPACE } from '../../src/pipeline/api/cluster-names.ts';
import { GROUP } from '../../src/pipeline/api/kinds.ts';
import { LABELS, type ManifestDocument } from './manifest-document.ts';

const account = { name: AGENT_ACCOUNT, namespace: NAMESPACE };
const RBAC = 'rbac.authorization.k8s.io';

/** What an agent may do. On which objects: see admission-policies.ts, RBAC knows no node. */
const CLUSTER_RULES = [
  {
    apiGroups: [GROUP],
    resources: ['diagnoses', 'operations', 'operationsets'],
    verbs: ['get', 'list', 'watch'],
  },
  { apiGroups: [GROUP], resources: ['diagnoses/status'], verbs: ['get', 'update', 'patch'] },
  {
    apiGroups: [GROUP],
    resources: ['nodereports', 'nodereports/status'],
    verbs: ['get', 'create', 'update', 'patch'],
  },
  { apiGroups: [GROUP], resources: ['recoverypolicies'], verbs: ['get'] },
  { apiGroups: [''], resources: ['nodes'], verbs: ['get'] },
  // The pod of a Diagnosis, and those of the node: RBAC cannot say "of this node".
  { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] },
  { apiGroups: [''], resources: ['nodes/status'], verbs: ['get', 'patch'] },
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
];

const NAMESPACE_RULES = [
  {
    apiGroups: ['coordination.k8s.io'],
    resources: ['leases'],
    // Listed: those of which an agent takes one before it repairs its node.
    verbs: ['get', 'list', 'create', 'update', 'patch'],
  },
];

export const access: readonly ManifestDocument[] = [
  {
    comment: 'The account of the agents. Only the container "agent" has its token.',
    object: {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { ...account, labels: LABELS },
      automountServiceAccountToken: false,
    },
  },
  {
    comment:
      'Agents read all Diagnoses, because RBAC knows no field selectors. They write only what belongs to\n' +
      'their own node: see the admission policies below.',
    object: role('ClusterRole', { name: AGENT_ACCOUNT }, CLUSTER_RULES),
  },
  { object: binding('ClusterRole', { name: AGENT_ACCOUNT }) },
  {
    comment:
      'The Lease by which others see that the agent of a node is alive, and those that limit how many\n' +
      'nodes are in recovery at once.',
    object: role('Role', account, NAMESPACE_RULES),
  },
  { object: binding('Role', account) },
];

function role(kind: 'ClusterRole' | 'Role', names: object, rules: readonly object[]): object {
  return { apiVersion: `${RBAC}/v1`, kind, metadata: { ...names, labels: LABELS }, rules };
}

function binding(kind: 'ClusterRole' | 'Role', names: object): object {
  return {
    apiVersion: `${RBAC}/v1`,
    kind: `${kind}Binding`,
    metadata: { ...names, labels: LABELS },
    roleRef: { apiGroup: RBAC, kind, name: AGENT_ACCOUNT },
    subjects: [{ kind: 'ServiceAccount', ...account }],
  };
}
