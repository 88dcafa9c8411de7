import { PARENT_LABEL } from '../../src/pipeline/api/cluster-names.ts';
import { API_VERSION } from '../../src/pipeline/api/kinds.ts';
import type { ActionGroup, TriedRequest } from './rights-table.ts';
import { OTHER_TEAM, type SubjectId, TEAM } from './subjects.ts';

const diagnosesIn = (namespace: string) => `/apis/${API_VERSION}/namespaces/${namespace}/diagnoses`;

/** The Diagnoses that are there when the table is tried. */
export const EXISTING = {
  /** Of the pod "web" of the namespace: no node yet, approved by nobody. */
  waiting: 'waiting',
  /** Of the same pod; a person has approved its plan. */
  approved: 'approved',
  /** Of node-a and of node-b; a person has approved their plans. */
  onNodeA: 'on-node-a',
  onNodeB: 'on-node-b',
  /** These repair on their own: one runs, two wait because somebody has suspended them. */
  automatic: 'automatic',
  suspended: 'suspended',
  suspendedOnNodeA: 'suspended-on-node-a',
  /** Suspended as well, with `recovery: Approval`. */
  suspendedForApproval: 'suspended-for-approval',
  cancelled: 'cancelled',
  /** A child Diagnosis, without its parent. */
  child: 'child',
} as const;

const ownPod = { namespace: TEAM, name: 'web' };
const UID = '0f8fad5b-d9cb-469f-a165-70867728950e';

function create(spec: object, metadata: object = {}): TriedRequest {
  const body = {
    apiVersion: API_VERSION,
    kind: 'Diagnosis',
    metadata: { name: 'tried', ...metadata },
    spec: { operationSet: 'set', recovery: 'Never', ...spec },
  };
  return { method: 'POST', path: diagnosesIn(TEAM), body };
}

/** The three ways to send the same change. */
function change(name: string, body: object): TriedRequest {
  return { method: 'PATCH', path: `${diagnosesIn(TEAM)}/${name}`, body };
}

const replace = (name: string, body: object): TriedRequest => ({
  ...{ method: 'PUT', path: `${diagnosesIn(TEAM)}/${name}`, body },
});

const apply = (name: string, body: object): TriedRequest => ({
  ...{ method: 'PATCH', path: `${diagnosesIn(TEAM)}/${name}`, patch: 'apply' },
  body: { apiVersion: API_VERSION, kind: 'Diagnosis', metadata: { name }, ...body },
});

const status = (name: string): TriedRequest => ({
  method: 'PATCH',
  path: `${diagnosesIn(TEAM)}/${name}/status`,
  body: { status: { phase: 'Running' } },
});

const EDITORS: readonly SubjectId[] = ['editor', 'recoverer', 'operator', 'onCall', 'admin'];
const OPERATORS: readonly SubjectId[] = ['operator', 'onCall', 'admin'];
const RECOVERERS: readonly SubjectId[] = ['recoverer', ...OPERATORS];
const resume = { spec: { suspend: null } };
/** The metadata of a child Diagnosis. */
export const CHILD = {
  labels: { [PARENT_LABEL]: UID },
  ownerReferences: [
    { apiVersion: API_VERSION, kind: 'Diagnosis', name: 'parent', uid: UID, controller: true },
  ],
};

export const diagnosisActions: readonly ActionGroup[] = [
  {
    title: 'Ask for a Diagnosis',
    actions: [
      {
        what: 'create a Diagnosis of a pod of the namespace, with `recovery: Never`',
        request: create({ podReference: ownPod }),
        may: EDITORS,
      },
      {
        what: '… with `recovery: Approval`',
        request: create({ podReference: ownPod, recovery: 'Approval' }),
        may: EDITORS,
      },
      {
        what: '… with `dryRun: true`',
        request: create({ podReference: ownPod, recovery: undefined, dryRun: true }),
        may: EDITORS,
      },
      {
        what: '… with `recovery: Automatic`',
        request: create({ podReference: ownPod, recovery: 'Automatic' }),
        may: ['recoverer', 'operator', 'onCall', 'admin'],
      },
      {
        what: '… without `recovery`, which means the same',
        request: create({ podReference: ownPod, recovery: undefined }),
        may: ['recoverer', 'operator', 'onCall', 'admin'],
      },
      {
        what: '… with `approvedPlan`',
        request: create({ podReference: ownPod, recovery: 'Approval', approvedPlan: 'abc' }),
        may: ['admin'],
      },
      {
        what: 'create a Diagnosis of a pod of another namespace',
        request: create({ podReference: { namespace: OTHER_TEAM, name: 'web' } }),
        may: OPERATORS,
      },
      {
        what: 'create a Diagnosis of a node',
        request: create({ nodeName: 'node-a' }),
        may: OPERATORS,
      },
      {
        what: '… with `recovery: Automatic`, which may affect pods of others',
        request: create({ nodeName: 'node-a', recovery: 'Automatic' }),
        may: ['onCall', 'admin'],
      },
      {
        what: 'create a Diagnosis of a pod, and choose the node',
        request: create({ podReference: ownPod, nodeName: 'node-b' }),
        may: OPERATORS,
      },
      {
        what: 'create a Diagnosis of several nodes',
        request: create({ targetSelector: { nodeNames: ['node-a', 'node-b'] } }),
        may: OPERATORS,
      },
      {
        what: '… with `recovery: Automatic`, also for pods of the namespace',
        request: create({ targetSelector: { podReferences: [ownPod] }, recovery: 'Automatic' }),
        may: ['onCall', 'admin'],
      },
      {
        what: 'create a Diagnosis of pods by `targetSelector`',
        request: create({ targetSelector: { podReferences: [ownPod] } }),
        may: OPERATORS,
      },
      {
        what: 'create a child Diagnosis, for a node',
        request: create({ nodeName: 'node-a' }, CHILD),
        may: ['controller', ...OPERATORS],
      },
      {
        what: 'create a child Diagnosis, for a pod',
        request: create({ podReference: ownPod }, CHILD),
        may: ['controller', ...OPERATORS],
      },
      {
        what: '… without an owner',
        request: create({ nodeName: 'node-a' }, { ...CHILD, ownerReferences: [] }),
        may: OPERATORS,
      },
      {
        what: '… with another owner',
        request: create({ nodeName: 'node-a' }, { ...CHILD, labels: { [PARENT_LABEL]: 'other' } }),
        may: OPERATORS,
      },
      {
        what: '… with `recovery: Automatic`, for a node',
        request: create({ nodeName: 'node-a', recovery: 'Automatic' }, CHILD),
        may: ['controller', 'onCall', 'admin'],
      },
      {
        what: 'create a Diagnosis in another namespace',
        request: {
          ...create({ podReference: { namespace: OTHER_TEAM, name: 'web' } }),
          path: diagnosesIn(OTHER_TEAM),
        },
        may: ['admin'],
      },
    ],
  },
  {
    title: 'Change a Diagnosis',
    actions: [
      {
        what: 'approve a plan',
        request: change(EXISTING.waiting, { spec: { approvedPlan: 'abc' } }),
        may: ['approver', 'admin'],
      },
      {
        what: '… by a PUT of the object',
        request: replace(EXISTING.waiting, { spec: { approvedPlan: 'abc' } }),
        may: ['approver', 'admin'],
      },
      {
        what: '… by a server-side apply',
        request: apply(EXISTING.waiting, { spec: { approvedPlan: 'abc' } }),
        may: ['approver', 'admin'],
      },
      {
        what: 'approve another plan in its place',
        request: change(EXISTING.approved, { spec: { approvedPlan: 'other' } }),
        may: ['approver', 'admin'],
      },
      {
        what: 'approve a plan for a node',
        request: change(EXISTING.onNodeA, { spec: { approvedPlan: 'other' } }),
        may: ['admin'],
      },
      {
        what: 'withdraw an approval',
        request: change(EXISTING.onNodeA, { spec: { approvedPlan: null } }),
        may: ['approver', ...EDITORS],
      },
      {
        what: 'set `nodeName` later',
        request: change(EXISTING.waiting, { spec: { nodeName: 'node-b' } }),
        may: ['controller', ...OPERATORS],
      },
      {
        what: 'cancel it',
        request: change(EXISTING.onNodeA, { spec: { cancel: true } }),
        may: ['controller', 'approver', ...EDITORS],
      },
      {
        what: 'take the cancellation of one back',
        request: change(EXISTING.cancelled, { spec: { cancel: false } }),
        may: [],
        rule: 'cancel cannot be taken back',
      },
      {
        what: 'suspend one with `recovery: Automatic`',
        request: change(EXISTING.automatic, { spec: { suspend: true } }),
        may: ['controller', 'approver', ...EDITORS],
      },
      {
        what: 'resume one with `recovery: Automatic`',
        request: change(EXISTING.suspended, resume),
        may: ['controller', ...RECOVERERS],
      },
      {
        what: '… of a node',
        request: change(EXISTING.suspendedOnNodeA, resume),
        may: ['controller', 'onCall', 'admin'],
      },
      {
        what: 'resume one with `recovery: Approval`',
        request: change(EXISTING.suspendedForApproval, resume),
        may: ['controller', 'approver', ...EDITORS],
      },
      {
        what: 'label it',
        request: change(EXISTING.onNodeA, { metadata: { labels: { team: 'a' } } }),
        may: ['controller', 'approver', ...EDITORS],
      },
      {
        what: 'make it a child Diagnosis',
        request: change(EXISTING.onNodeA, { metadata: { labels: { [PARENT_LABEL]: UID } } }),
        may: ['controller', ...OPERATORS],
      },
      {
        what: 'remove the label of its parent',
        request: change(EXISTING.child, { metadata: { labels: { [PARENT_LABEL]: null } } }),
        may: ['controller', ...OPERATORS],
      },
      {
        what: 'shorten its deadline',
        request: change(EXISTING.onNodeA, { spec: { deadlineSeconds: 60 } }),
        may: ['controller', 'approver', ...EDITORS],
      },
      {
        what: 'change how long it stays after its end',
        request: change(EXISTING.onNodeA, { spec: { ttlSecondsAfterFinished: 60 } }),
        may: ['approver', ...EDITORS],
      },
      {
        what: 'delete it',
        request: { method: 'DELETE', path: `${diagnosesIn(TEAM)}/${EXISTING.onNodeA}` },
        may: ['controller', ...EDITORS],
      },
      {
        what: 'delete all of the namespace with one request',
        request: { method: 'DELETE', path: diagnosesIn(TEAM) },
        may: EDITORS,
      },
      {
        what: 'write the status of one on node-a',
        request: status(EXISTING.onNodeA),
        may: ['agent', 'controller'],
      },
      {
        what: 'write the status of one on node-b',
        request: status(EXISTING.onNodeB),
        may: ['controller'],
      },
      {
        what: 'write the status of one without a node',
        request: status(EXISTING.waiting),
        may: ['controller'],
      },
    ],
  },
  {
    title: 'Read Diagnoses',
    actions: [
      {
        what: 'read those of the namespace',
        request: { method: 'GET', path: diagnosesIn(TEAM) },
        may: ['agent', 'controller', 'viewer', 'approver', ...EDITORS],
      },
      {
        what: 'read those of another namespace',
        request: { method: 'GET', path: diagnosesIn(OTHER_TEAM) },
        may: ['agent', 'controller', 'admin'],
      },
    ],
  },
];
