import { AGENT_ACCOUNT } from '../../src/pipeline/api/cluster-names.ts';
import { GROUP, RECOVERY_POLICIES } from '../../src/pipeline/api/kind-names.ts';
import type { ManifestDocument } from './manifest-document.ts';
import { type Rule, roleOf, serviceAccount } from './role.ts';

/** What an agent may do. On which objects: see agent-policies.ts, RBAC knows no node. */
const CLUSTER_RULES: readonly Rule[] = [
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
  { apiGroups: [GROUP], resources: [RECOVERY_POLICIES], verbs: ['get'] },
  { apiGroups: [''], resources: ['nodes'], verbs: ['get'] },
  // The pod of a Diagnosis, and those of the node: RBAC cannot say "of this node".
  { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] },
  { apiGroups: [''], resources: ['nodes/status'], verbs: ['get', 'patch'] },
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
];

const NAMESPACE_RULES: readonly Rule[] = [
  {
    apiGroups: ['coordination.k8s.io'],
    resources: ['leases'],
    // Listed: those of which an agent takes one before it repairs its node.
    verbs: ['get', 'list', 'create', 'update', 'patch'],
  },
];

export const access: readonly ManifestDocument[] = [
  serviceAccount(
    AGENT_ACCOUNT,
    'The account of the agents. Only the container "agent" has its token.',
  ),
  ...roleOf(AGENT_ACCOUNT, {
    name: AGENT_ACCOUNT,
    comment:
      'Agents read all Diagnoses, because RBAC knows no field selectors. They write only what belongs to\n' +
      'their own node: see the admission policies below.',
    isClusterRole: true,
    rules: CLUSTER_RULES,
  }),
  ...roleOf(AGENT_ACCOUNT, {
    name: AGENT_ACCOUNT,
    comment:
      'The Lease by which others see that the agent of a node is alive, and those that limit how many\n' +
      'nodes are in recovery at once.',
    rules: NAMESPACE_RULES,
  }),
];
