import {
  AGENT_ACCOUNT,
  AGENT_REPORTER,
  CONTROLLER_ACCOUNT,
  CONTROLLER_LEASE,
  CONTROLLER_REPORTER,
  FAILURES_ANNOTATION,
  NAMESPACE,
  NODE_CONDITION,
  RECOVERY_POLICY,
  SLOT_LABEL,
  SLOT_PREFIX,
} from '../../src/pipeline/api/cluster-names.ts';
import { API_VERSION, RECOVERY_POLICIES } from '../../src/pipeline/api/kind-names.ts';
import type { ActionGroup, TriedRequest } from './rights-table.ts';
import { OTHER_TEAM } from './subjects.ts';

/** Not built in. */
export const EXISTING_SET = 'of-a-person';
/** Of each Lease for recovery; somebody else has written it. */
export const EXISTING_ANNOTATION = 'existing';
/** A pod of the namespace OTHER_TEAM; the others run on node-a. */
export const ON_NODE_B = 'on-node-b';

const OURS = `/apis/${API_VERSION}`;
const IN_KUBEDIAG = `/api/v1/namespaces/${NAMESPACE}`;
const LEASES = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases`;

const get = (path: string): TriedRequest => ({ method: 'GET', path });
const remove = (path: string): TriedRequest => ({ method: 'DELETE', path });
const patch = (path: string, body: object): TriedRequest => ({ method: 'PATCH', path, body });

function create(kind: string, plural: string, spec: object): TriedRequest {
  const body = { apiVersion: API_VERSION, kind, metadata: { name: 'tried' }, spec };
  return { method: 'POST', path: `${OURS}/${plural}`, body };
}

const operation = (processor: object) => create('Operation', 'operations', { processor });

function lease(name: string, holderIdentity: string, more: object = {}): TriedRequest {
  const metadata = { name, labels: { [SLOT_LABEL]: '' }, ...more };
  const body = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata,
    spec: { holderIdentity },
  };
  return { method: 'POST', path: LEASES, body };
}

const hold = (name: string, holderIdentity: string) =>
  patch(`${LEASES}/${name}`, { spec: { holderIdentity } });

const FINALIZERS = { finalizers: ['example.org/tried'] };

const annotate = (name: string, metadata: object) => patch(`${LEASES}/${name}`, { metadata });

function conditions(
  node: string,
  list: readonly object[],
  { status = {}, ...more }: { readonly status?: object; readonly metadata?: object } = {},
): TriedRequest {
  const body = { ...more, status: { conditions: list, ...status } };
  return { ...patch(`/api/v1/nodes/${node}/status`, body), patch: 'strategic-merge' };
}

const condition = (type: string, status: string) => ({ type, status, reason: 'Tried' });
const gone = (type: string) => ({ $patch: 'delete', type });
/** Both the agent of the node and the controller may remove this: only the rest can be refused. */
const REMOVED = gone(NODE_CONDITION);

const ABOUT_NODE_A = { apiVersion: 'v1', kind: 'Node', name: 'node-a' };
const POD_ON_NODE_B = { apiVersion: 'v1', kind: 'Pod', name: ON_NODE_B, namespace: OTHER_TEAM };

function event(
  reportingController: string,
  reportingInstance: string,
  regarding: object = ABOUT_NODE_A,
  metadata: object = {},
  namespace = 'default',
): TriedRequest {
  const body = {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: 'tried', ...metadata, namespace },
    eventTime: '2026-01-02T03:04:05.000000Z',
    ...{ reportingController, reportingInstance },
    ...{ action: 'Check', reason: 'Tried', type: 'Normal' },
    regarding,
  };
  const path = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
  return { method: 'POST', path, body };
}

export const clusterActions: readonly ActionGroup[] = [
  {
    title: 'Operations, OperationSets, Triggers and the RecoveryPolicy',
    actions: [
      {
        what: 'read an OperationSet',
        request: get(`${OURS}/operationsets`),
        may: ['agent', 'controller', 'admin'],
      },
      {
        what: 'create an OperationSet',
        request: create('OperationSet', 'operationsets', {
          adjacencyList: [
            { id: 0, to: [1] },
            { id: 1, operation: 'mount-info-collector' },
          ],
        }),
        may: ['controller', 'admin'],
      },
      {
        what: 'change an OperationSet of a person',
        request: patch(`${OURS}/operationsets/${EXISTING_SET}`, {
          spec: {
            adjacencyList: [
              { id: 0, to: [1] },
              { id: 1, operation: 'other' },
            ],
          },
        }),
        may: ['admin'],
      },
      {
        what: 'create an Operation with a built-in processor',
        request: operation({
          httpServer: { path: '/processor/mountInfoCollector', scheme: 'http' },
          timeoutSeconds: 60,
        }),
        may: ['controller', 'admin'],
      },
      {
        what: 'create an Operation with a script',
        request: operation({ scriptRunner: { script: 'true', argKeys: [] }, timeoutSeconds: 60 }),
        may: ['admin'],
      },
      {
        what: 'create an Operation that asks another server',
        request: operation({
          httpServer: { address: '192.0.2.1', path: '/', scheme: 'http' },
          timeoutSeconds: 60,
        }),
        may: ['admin'],
      },
      {
        what: '… that asks another port of the agent',
        request: operation({
          httpServer: { port: 80, path: '/', scheme: 'http' },
          timeoutSeconds: 60,
        }),
        may: ['admin'],
      },
      ...[{ externalIP: '192.0.2.1' }, { externalAddress: 'a.example' }, { externalPort: 80 }].map(
        (server) => ({
          what: `… by \`${Object.keys(server).join()}\``,
          request: operation({ ...server, path: '/', timeoutSeconds: 60 }),
          may: ['admin'] as const,
        }),
      ),
      {
        what: 'create an Operation with a function',
        request: operation({
          function: { codeSource: { 'function.py': '' }, runtime: 'Python3' },
          timeoutSeconds: 60,
        }),
        may: ['admin'],
      },
      {
        what: 'create a Trigger',
        request: create('Trigger', 'triggers', {
          operationSet: 'set',
          sourceTemplate: {
            prometheusAlertTemplate: {
              regexp: { alertName: 'A' },
              nodeNameReferenceLabel: 'instance',
            },
          },
        }),
        may: ['admin'],
      },
      {
        what: 'create the RecoveryPolicy',
        request: create('RecoveryPolicy', RECOVERY_POLICIES, { paused: true }),
        may: ['controller', 'admin'],
      },
      {
        what: 'change the RecoveryPolicy',
        request: patch(`${OURS}/${RECOVERY_POLICIES}/${RECOVERY_POLICY}`, {
          spec: { paused: false },
        }),
        may: ['admin'],
      },
      {
        what: 'write its status',
        request: patch(`${OURS}/${RECOVERY_POLICIES}/${RECOVERY_POLICY}/status`, {
          status: { slots: 100 },
        }),
        may: ['controller'],
      },
    ],
  },
  {
    title: 'Leases that limit recoveries, and those of the processes',
    actions: [
      {
        what: 'create a Lease for recovery',
        request: lease(`${SLOT_PREFIX}7`, ''),
        may: ['controller'],
      },
      {
        what: 'create one and hold it',
        request: lease(`${SLOT_PREFIX}7`, 'node-a'),
        may: [],
      },
      {
        what: 'take a free one for node-a',
        request: hold(`${SLOT_PREFIX}0`, 'node-a'),
        may: ['agent'],
      },
      {
        what: 'take a free one for node-b',
        request: hold(`${SLOT_PREFIX}0`, 'node-b'),
        may: [],
      },
      {
        what: 'free one that node-b holds',
        request: hold(`${SLOT_PREFIX}1`, ''),
        may: ['controller'],
      },
      {
        what: 'record a failed recovery in one',
        request: annotate(`${SLOT_PREFIX}0`, { annotations: { [FAILURES_ANNOTATION]: '[]' } }),
        may: ['agent', 'controller'],
      },
      {
        what: 'write another annotation of one',
        request: annotate(`${SLOT_PREFIX}0`, { annotations: { tried: 'true' } }),
        may: ['controller'],
      },
      {
        what: 'remove another annotation of one',
        request: annotate(`${SLOT_PREFIX}0`, { annotations: { [EXISTING_ANNOTATION]: null } }),
        may: ['controller'],
      },
      {
        what: 'write a label of one',
        request: annotate(`${SLOT_PREFIX}0`, { labels: { [SLOT_LABEL]: 'other' } }),
        may: ['controller'],
      },
      {
        what: 'remove its labels',
        request: annotate(`${SLOT_PREFIX}0`, { labels: null }),
        may: ['controller'],
      },
      {
        what: 'delete a Lease for recovery',
        request: remove(`${LEASES}/${SLOT_PREFIX}0`),
        may: ['controller'],
      },
      {
        what: 'hold the Lease of the agent on node-a',
        request: hold('node-a', 'node-a'),
        may: ['agent'],
      },
      {
        what: '… and write a finalizer, which would block the removal',
        request: annotate('node-a', FINALIZERS),
        may: [],
      },
      {
        what: '… and create it with a finalizer',
        request: lease('node-a', 'node-a', FINALIZERS),
        may: [],
      },
      {
        what: 'hold the Lease of the agent on node-b',
        request: hold('node-b', 'node-b'),
        may: [],
      },
      {
        what: 'hold the Lease of the controller',
        request: hold(CONTROLLER_LEASE, 'a'),
        may: ['controller'],
      },
    ],
  },
  {
    title: 'Nodes and their reports',
    actions: [
      { what: 'read Nodes', request: get('/api/v1/nodes/node-b'), may: ['agent', 'controller'] },
      {
        what: `write the condition ${NODE_CONDITION} of node-a`,
        request: conditions('node-a', [condition(NODE_CONDITION, 'False')]),
        may: ['agent'],
      },
      {
        what: `write the condition ${NODE_CONDITION} of node-b`,
        request: conditions('node-b', [condition(NODE_CONDITION, 'False')]),
        may: [],
      },
      {
        what: `remove the condition ${NODE_CONDITION} of node-b`,
        request: conditions('node-b', [REMOVED]),
        may: ['controller'],
      },
      {
        what: `remove the condition ${NODE_CONDITION} of node-a`,
        request: conditions('node-a', [REMOVED]),
        may: ['agent', 'controller'],
      },
      {
        what: '… and write the condition Ready of node-a as well',
        request: conditions('node-a', [REMOVED, condition('Ready', 'False')]),
        may: [],
      },
      {
        what: '… and remove the condition Ready as well',
        request: conditions('node-a', [REMOVED, gone('Ready')]),
        may: [],
      },
      {
        what: '… and write another condition as well',
        request: conditions('node-a', [REMOVED, condition('Tried', 'True')]),
        may: [],
      },
      {
        what: '… and write its capacity as well',
        request: conditions('node-a', [REMOVED], { status: { capacity: { pods: '1' } } }),
        may: [],
      },
      {
        what: '… and remove its capacity as well',
        request: conditions('node-a', [REMOVED], { status: { capacity: null } }),
        may: [],
      },
      {
        what: '… and label it as well',
        request: conditions('node-a', [REMOVED], { metadata: { labels: { a: 'b' } } }),
        may: [],
      },
      {
        what: '… and remove its labels as well',
        request: conditions('node-a', [REMOVED], { metadata: { labels: null } }),
        may: [],
      },
      {
        what: 'cordon node-a',
        request: patch('/api/v1/nodes/node-a', { spec: { unschedulable: true } }),
        may: [],
      },
      {
        what: 'label node-a',
        request: patch('/api/v1/nodes/node-a', { metadata: { labels: { a: 'b' } } }),
        may: [],
      },
      {
        what: 'create the NodeReport of another node',
        request: {
          ...{ method: 'POST', path: `${OURS}/nodereports` },
          body: { apiVersion: API_VERSION, kind: 'NodeReport', metadata: { name: 'tried' } },
        },
        may: ['admin'],
      },
      {
        what: 'write the NodeReport of node-a',
        request: patch(`${OURS}/nodereports/node-a/status`, { status: { state: 'clear' } }),
        may: ['agent'],
      },
      {
        what: 'write the NodeReport of node-b',
        request: patch(`${OURS}/nodereports/node-b/status`, { status: { state: 'clear' } }),
        may: [],
      },
      {
        what: 'label the NodeReport of node-a',
        request: patch(`${OURS}/nodereports/node-a`, { metadata: { labels: { a: 'b' } } }),
        may: ['agent', 'admin'],
      },
      {
        what: 'write a finalizer of the NodeReport of node-a',
        request: patch(`${OURS}/nodereports/node-a`, { metadata: FINALIZERS }),
        may: ['admin'],
      },
      {
        what: 'label the NodeReport of node-b',
        request: patch(`${OURS}/nodereports/node-b`, { metadata: { labels: { a: 'b' } } }),
        may: ['admin'],
      },
      {
        what: 'read all NodeReports',
        request: get(`${OURS}/nodereports`),
        may: ['admin'],
      },
      {
        what: 'report an Event as the agent of node-a',
        request: event(AGENT_REPORTER, 'node-a'),
        may: ['agent'],
      },
      {
        what: 'report an Event as the agent of node-b',
        request: event(AGENT_REPORTER, 'node-b'),
        may: [],
      },
      {
        what: '… as the agent of node-a, with a finalizer',
        request: event(AGENT_REPORTER, 'node-a', ABOUT_NODE_A, FINALIZERS),
        may: [],
      },
      {
        what: '… as the agent of node-a, about node-b',
        request: event(AGENT_REPORTER, 'node-a', { ...ABOUT_NODE_A, name: 'node-b' }),
        may: [],
      },
      {
        what: '… as the agent of node-a, about a pod of node-b, which no policy can see',
        request: event(AGENT_REPORTER, 'node-a', POD_ON_NODE_B, {}, OTHER_TEAM),
        may: ['agent'],
      },
      {
        what: 'report an Event as the controller',
        request: event(CONTROLLER_REPORTER, 'node-a'),
        may: ['controller'],
      },
    ],
  },
  {
    title: 'Pods, Secrets and the installation',
    actions: [
      {
        what: 'read the pods of another namespace',
        request: get(`/api/v1/namespaces/${OTHER_TEAM}/pods`),
        may: ['agent', 'controller'],
      },
      {
        what: 'delete a pod of another namespace',
        request: remove(`/api/v1/namespaces/${OTHER_TEAM}/pods/web`),
        may: [],
      },
      {
        what: 'delete a StatefulSet of another namespace',
        request: remove(`/apis/apps/v1/namespaces/${OTHER_TEAM}/statefulsets/web`),
        may: [],
      },
      {
        what: 'read Secrets of another namespace',
        request: get(`/api/v1/namespaces/${OTHER_TEAM}/secrets`),
        may: [],
      },
      {
        what: `read Secrets of the namespace ${NAMESPACE}`,
        request: get(`${IN_KUBEDIAG}/secrets`),
        may: [],
      },
      {
        what: 'run a command in the pod of an agent',
        request: { method: 'POST', path: `${IN_KUBEDIAG}/pods/agent-a/exec?command=id` },
        may: [],
      },
      {
        what: 'fetch results from the pod of an agent',
        request: get(`${IN_KUBEDIAG}/pods/agent-a:8090/proxy/metrics`),
        may: [],
      },
      {
        what: 'get a token of the controller',
        request: {
          method: 'POST',
          path: `${IN_KUBEDIAG}/serviceaccounts/${CONTROLLER_ACCOUNT}/token`,
          body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
        },
        may: [],
      },
      {
        what: 'change what executors permit',
        request: patch(`${IN_KUBEDIAG}/configmaps/kubediag-executor`, { data: {} }),
        may: [],
      },
      {
        what: 'delete an admission policy',
        request: remove(
          `/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/${AGENT_ACCOUNT}-nodes`,
        ),
        may: [],
      },
    ],
  },
];
