import {
  AGENT_ACCOUNT,
  CONTROLLER_LEASE,
  NAMESPACE,
  NODE_CONDITION,
  RECOVERY_POLICY,
  SLOT_LABEL,
  SLOT_PREFIX,
} from '../../src/pipeline/api/cluster-names.ts';
import { API_VERSION } from '../../src/pipeline/api/kinds.ts';
import {
  EXISTING_ANNOTATION,
  EXISTING_SET,
  ON_NODE_B,
} from '../../tools/rights/cluster-actions.ts';
import { PODS, WAITING } from '../../tools/rights/controller-steps-actions.ts';
import { CHILD, EXISTING } from '../../tools/rights/diagnosis-actions.ts';
import { OTHER_TEAM, rolesOf, subjectIds, TEAM } from '../../tools/rights/subjects.ts';

/** What the requests of the table of rights need to be there. */

const NODES = ['node-a', 'node-b'];

/** On a Node with the name of the Lease of the controllers. */
export const MISLEADING_AGENT = 'agent-on-misleading-node';

const containers = [{ name: 'main', image: 'none' }];

function pod(name: string, namespace: string, serviceAccountName: string, nodeName: string) {
  const spec = { serviceAccountName, nodeName, containers };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace }, spec };
}

const webLabels = { app: 'web' };

const statefulSet = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'web', namespace: TEAM },
  spec: {
    ...{ serviceName: 'web', selector: { matchLabels: webLabels } },
    template: { metadata: { labels: webLabels }, spec: { containers } },
  },
};

function podOfStatefulSet(name: string) {
  const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'u' };
  const { metadata, ...rest } = pod(name, TEAM, 'default', 'node-a');
  return { ...rest, metadata: { ...metadata, ownerReferences: [{ ...owner, controller: true }] } };
}

function statusOfPod(name: string, state: object) {
  const container = { name: 'main', image: 'none', imageID: '', ready: false, restartCount: 0 };
  const body = { status: { containerStatuses: [{ ...container, state }] } };
  return { path: `/api/v1/namespaces/${TEAM}/pods/${name}/status`, body };
}

/** As a kubelet writes them. */
export const podStatuses = [
  statusOfPod(PODS.stuck, { waiting: { reason: 'ImagePullBackOff' } }),
  statusOfPod(WAITING, { waiting: { reason: 'ImagePullBackOff' } }),
  statusOfPod(PODS.running, { running: {} }),
];

const ownPod = { namespace: TEAM, name: 'web' };

function diagnosis(name: string, spec: object, metadata: object = {}) {
  return {
    apiVersion: API_VERSION,
    kind: 'Diagnosis',
    metadata: { name, namespace: TEAM, ...metadata },
    spec: { operationSet: 'set', recovery: 'Approval', ...spec },
  };
}

function lease(name: string, holderIdentity: string, metadata: object = {}) {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace: NAMESPACE, ...metadata },
    spec: { holderIdentity },
  };
}

const slot = { labels: { [SLOT_LABEL]: '' }, annotations: { [EXISTING_ANNOTATION]: '' } };

const accounts = [TEAM, OTHER_TEAM].map((namespace) => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name: 'default', namespace },
}));

/** In this order. */
export const neededObjects: readonly object[] = [
  ...[TEAM, OTHER_TEAM].map((name) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name },
  })),
  ...accounts,
  ...NODES.flatMap((name) => [
    { apiVersion: 'v1', kind: 'Node', metadata: { name, labels: { role: 'web' } } },
    { apiVersion: API_VERSION, kind: 'NodeReport', metadata: { name } },
    lease(name, name),
  ]),
  lease(CONTROLLER_LEASE, ''),
  lease(`${SLOT_PREFIX}0`, '', slot),
  lease(`${SLOT_PREFIX}1`, 'node-b', slot),
  pod('agent-a', NAMESPACE, AGENT_ACCOUNT, 'node-a'),
  { apiVersion: 'v1', kind: 'Node', metadata: { name: CONTROLLER_LEASE } },
  pod(MISLEADING_AGENT, NAMESPACE, AGENT_ACCOUNT, CONTROLLER_LEASE),
  pod('web', TEAM, 'default', 'node-a'),
  pod('web', OTHER_TEAM, 'default', 'node-a'),
  pod(ON_NODE_B, OTHER_TEAM, 'default', 'node-b'),
  pod(WAITING, TEAM, 'default', 'node-a'),
  statefulSet,
  ...Object.values(PODS).map(podOfStatefulSet),
  diagnosis(EXISTING.waiting, { podReference: ownPod }),
  diagnosis(EXISTING.approved, { podReference: ownPod, approvedPlan: 'first' }),
  diagnosis(EXISTING.onNodeA, { nodeName: 'node-a', approvedPlan: 'first' }),
  diagnosis(EXISTING.onNodeB, { nodeName: 'node-b', approvedPlan: 'first' }),
  diagnosis(EXISTING.automatic, { podReference: ownPod, recovery: 'Automatic' }),
  diagnosis(EXISTING.suspended, { podReference: ownPod, recovery: 'Automatic', suspend: true }),
  diagnosis(EXISTING.suspendedOnNodeA, {
    nodeName: 'node-a',
    recovery: 'Automatic',
    suspend: true,
  }),
  diagnosis(EXISTING.suspendedForApproval, { podReference: ownPod, suspend: true }),
  diagnosis(EXISTING.cancelled, { podReference: ownPod, cancel: true }),
  diagnosis(EXISTING.child, { nodeName: 'node-a' }, CHILD),
  {
    apiVersion: API_VERSION,
    kind: 'OperationSet',
    metadata: { name: EXISTING_SET },
    spec: {
      adjacencyList: [
        { id: 0, to: [1] },
        { id: 1, operation: 'some' },
      ],
    },
  },
  {
    apiVersion: API_VERSION,
    kind: 'RecoveryPolicy',
    metadata: { name: RECOVERY_POLICY },
    spec: { paused: true },
  },
];

/** As the kubelet and an agent write it. */
export const nodeStatus = {
  status: {
    capacity: { pods: '110' },
    conditions: ['Ready', NODE_CONDITION].map((type) => ({
      type,
      status: 'True',
      reason: 'Tried',
    })),
  },
};

const RBAC = 'rbac.authorization.k8s.io';

function binding(user: string, role: string, namespace?: string): object {
  return {
    apiVersion: `${RBAC}/v1`,
    kind: namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding',
    metadata: { name: `${user}-${role}`, ...(namespace === undefined ? {} : { namespace }) },
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: RBAC, kind: 'User', name: user }],
  };
}

/** A person has the id of the subject as a name. */
export const bindings: readonly object[] = subjectIds.flatMap((id) => {
  const { inTeam, inCluster } = rolesOf(id);
  return [
    ...inTeam.map((role) => binding(id, role, TEAM)),
    ...inCluster.map((role) => binding(id, role)),
  ];
});
