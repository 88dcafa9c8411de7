import { afterEach, describe, expect, test } from 'vitest';
import { observedPolicy, recoveryPolicy } from '../../../../test/recovery-objects.ts';
import { SyntheticController } from '../../../../test/synthetic-controller.ts';
import { fieldAt, textAt } from '../../../lib/std/json.ts';
import { CORDONED_BY } from '../../../pipeline/api/cluster-names.ts';
import { API_VERSION } from '../../../pipeline/api/kind-names.ts';
import { adjacencyHash } from '../../../pipeline/graph/adjacency-hash.ts';
import { CONTROLLER_STEPS } from '../../../pipeline/steps/controller-steps.ts';
import { POD_DETAIL } from '../../../pipeline/steps/pod-collectors.ts';
import { steps } from './steps.ts';

const OURS = `/apis/${API_VERSION}`;
const NODE = '/api/v1/nodes/web-3';
const POD = '/api/v1/namespaces/default/pods/web-1';
const SET = '/apis/apps/v1/namespaces/default/statefulsets/web';
const { nodeCordon, statefulsetDetail, statefulsetStuck } = CONTROLLER_STEPS;

const graphOf = (operation: string) => [{ to: [1] }, { operation }];
const due = (operation: string) => ({
  phase: 'Running',
  startTime: '2026-01-02T03:04:05Z',
  adjacencyListHash: adjacencyHash(graphOf(operation)),
  checkpoint: { pathIndex: 0, nodeIndex: 0 },
  currentStep: { operation, startTime: '2026-01-02T03:04:05Z' },
  conditions: [{ type: 'WaitingForController', status: 'True', reason: 'ControllerStepDue' }],
});

let started: SyntheticController | undefined;
afterEach(() => started?.stop());

interface Given {
  readonly operation: string;
  readonly spec?: object;
  readonly policy?: object;
  /** Of the RecoveryPolicy; by default its rights are enforced. */
  readonly conditions?: readonly object[];
  readonly rightsEnforcedSince?: string;
  readonly results?: Readonly<Record<string, string>>;
  readonly objects?: Readonly<Record<string, object>>;
}

/** A Diagnosis on node web-3 whose agent has come to a step of the controller. */
async function cluster({ operation, spec, policy = {}, results, objects = {}, ...given }: Given) {
  const controller = new SyntheticController();
  started = controller;
  const { api } = controller;
  const { path } =
    Object.values(CONTROLLER_STEPS).find((each) => each.operation === operation) ?? {};
  const processor = { httpServer: { path, scheme: 'http' }, timeoutSeconds: 5 };
  api.put(`${OURS}/operations/${operation}`, {
    ...{ apiVersion: API_VERSION, kind: 'Operation', metadata: { name: operation, uid: 'o' } },
    spec: { processor },
  });
  api.put(`${OURS}/operationsets/set`, {
    ...{ apiVersion: API_VERSION, kind: 'OperationSet', metadata: { name: 'set', uid: 's' } },
    spec: { adjacencyList: graphOf(operation) },
  });
  const observed = { ...recoveryPolicy(policy), status: { ...observedPolicy(1, 1), ...given } };
  api.put(`${OURS}/recoverypolicies/default`, observed);
  api.put(NODE, { metadata: { name: 'web-3', uid: 'n' }, spec: {} });
  for (const [at, object] of Object.entries(objects)) api.put(at, object);
  const status = { ...due(operation), ...(results ? { operationResults: results } : {}) };
  controller.diagnosis('web', { nodeName: 'web-3', ...spec }, status);
  await controller.start();
  void steps(controller.context);
  return controller;
}

const statusOf = (controller: SyntheticController) => controller.stored('web')?.status ?? {};

async function ended(controller: SyntheticController) {
  await expect.poll(() => statusOf(controller)).toMatchObject({ endTime: expect.any(String) });
  return statusOf(controller);
}

const isCordoned = ({ api }: SyntheticController) =>
  fieldAt(api.objects.get(NODE), 'spec', 'unschedulable') === true;

describe('node-cordon', () => {
  const { operation } = nodeCordon;

  test('cordons the node, notes for which Diagnosis, and records the action', async () => {
    const controller = await cluster({ operation });
    expect(await ended(controller)).toMatchObject({
      phase: 'Succeeded',
      result: 'Repaired',
      operationResults: { [nodeCordon.result]: 'web-3' },
      actions: [{ kind: 'cordon', description: 'cordon node web-3', state: 'done' }],
      conditions: [{ type: 'WaitingForController', status: 'False' }, { type: 'Complete' }],
    });
    expect(isCordoned(controller)).toBe(true);
    const annotations = { [CORDONED_BY]: 'default/web uid-of-web' };
    expect(controller.api.objects.get(NODE)).toMatchObject({ metadata: { annotations } });
    const events = [...controller.api.objects].filter(([path]) => path.includes('/events/'));
    expect(events).toMatchObject([[expect.any(String), { reason: 'Cordoned' }]]);
  });

  test('counts a cordon of an interrupted attempt as its own', async () => {
    const metadata = { name: 'web-3', annotations: { [CORDONED_BY]: 'default/web uid-of-web' } };
    const objects = { [NODE]: { metadata, spec: { unschedulable: true } } };
    const controller = await cluster({ operation, objects });
    expect(await ended(controller)).toMatchObject({ actions: [{ state: 'done' }] });
    expect(controller.api.writes).not.toContain(`PATCH ${NODE}`);
  });

  test('leaves a cordon of a person alone and records no action', async () => {
    const objects = { [NODE]: { metadata: { name: 'web-3' }, spec: { unschedulable: true } } };
    const controller = await cluster({ operation, objects });
    const status = await ended(controller);
    expect(status).toMatchObject({ phase: 'Succeeded' });
    expect(status).not.toHaveProperty('actions');
  });

  test.each([
    ['dryRun', { dryRun: true }, { phase: 'Succeeded', plannedActions: [{ kind: 'cordon' }] }],
    ['recovery: Never', { recovery: 'Never' }, { phase: 'Failed', result: 'Refused' }],
    [
      'a podReference',
      { podReference: { namespace: 'default', name: 'web-1' } },
      { phase: 'Failed', result: 'Refused' },
    ],
  ])('with %s changes nothing', async (_, spec, expected) => {
    const controller = await cluster({ operation, spec });
    expect(await ended(controller)).toMatchObject(expected);
    expect(isCordoned(controller)).toBe(false);
  });

  test('with recovery: Approval waits for the approval of this node', async () => {
    const controller = await cluster({ operation, spec: { recovery: 'Approval' } });
    await expect.poll(() => statusOf(controller)).toMatchObject({ plan: expect.any(String) });
    expect(isCordoned(controller)).toBe(false);
    const { plan, conditions } = statusOf(controller);
    expect(conditions).toMatchObject([{ status: 'False' }, { type: 'WaitingForApproval' }]);
    // The agent comes to the step again after the approval.
    const [condition] = due(operation).conditions;
    const spec = { approvedPlan: plan };
    controller.change('web', { spec, status: { conditions: [condition] } });
    expect(await ended(controller)).toMatchObject({ result: 'Repaired' });
    expect(isCordoned(controller)).toBe(true);
  });

  test('does not take the approval of a Node that was deleted for one of its name', async () => {
    const controller = await cluster({ operation, spec: { recovery: 'Approval' } });
    await expect.poll(() => statusOf(controller)).toMatchObject({ plan: expect.any(String) });
    const { plan } = statusOf(controller);
    controller.api.put(NODE, { metadata: { name: 'web-3', uid: 'another' }, spec: {} });
    const [condition] = due(operation).conditions;
    const spec = { approvedPlan: plan };
    controller.change('web', { spec, status: { conditions: [condition] } });
    await expect.poll(() => statusOf(controller).plan).not.toBe(plan);
    expect(isCordoned(controller)).toBe(false);
  });

  test('waits while the RecoveryPolicy is paused, and says so', async () => {
    const controller = await cluster({ operation, policy: { paused: true } });
    const waits = { type: 'WaitingForRecovery', status: 'True', reason: 'RecoveryPaused' };
    await expect
      .poll(() => statusOf(controller).conditions)
      .toEqual(expect.arrayContaining([expect.objectContaining(waits)]));
    expect(isCordoned(controller)).toBe(false);
  });

  test('is refused where nobody checks who asks for it', async () => {
    const rights = { type: 'RightsEnforced', status: 'False', message: 'no policies' };
    const controller = await cluster({ operation, conditions: [rights] });
    expect(await ended(controller)).toMatchObject({ phase: 'Failed', result: 'Refused' });
    expect(isCordoned(controller)).toBe(false);
  });

  test('is refused for a Diagnosis that is older than the check of its author', async () => {
    const controller = await cluster({ operation, rightsEnforcedSince: '2026-01-02T03:04:06Z' });
    expect(await ended(controller)).toMatchObject({
      ...{ phase: 'Failed', result: 'Refused' },
      steps: [{ message: expect.stringContaining('create it again') }],
    });
    expect(isCordoned(controller)).toBe(false);
  });

  test('without the right fails with what grants it', async () => {
    const controller = await cluster({ operation });
    controller.api.forbidden = '/api/v1/nodes/';
    expect(await ended(controller)).toMatchObject({
      phase: 'Failed',
      steps: [{ operation, outcome: 'Failed', message: expect.stringContaining('forbidden') }],
    });
  });

  test('is tried again when somebody else changes the node meanwhile', async () => {
    const controller = await cluster({ operation });
    let isFirst = true;
    controller.api.onRequest = ({ method, path }) => {
      if (method !== 'PATCH' || path !== NODE || !isFirst) return;
      isFirst = false;
      controller.api.put(NODE, { metadata: { name: 'web-3', uid: 'n', labels: {} }, spec: {} });
    };
    expect(await ended(controller)).toMatchObject({ actions: [{ state: 'done' }] });
  });
});

const OWNER = { kind: 'StatefulSet', name: 'web', uid: 'set', controller: true };

const pod = (more: { readonly uid?: string; readonly nodeName?: string; image?: string } = {}) => ({
  metadata: {
    ...{ name: 'web-1', namespace: 'default', uid: more.uid ?? 'pod' },
    labels: { 'controller-revision-hash': 'web-2' },
    ownerReferences: [OWNER],
  },
  spec: {
    nodeName: more.nodeName ?? 'web-3',
    containers: [{ name: 'web', image: more.image ?? 'web:broken' }],
  },
  status: {
    containerStatuses: [{ name: 'web', state: { waiting: { reason: 'ImagePullBackOff' } } }],
  },
});

const SECRET = { name: 'DB_PASSWORD', value: 'geheim' };
const statefulSet = {
  metadata: { name: 'web', namespace: 'default', uid: 'set', generation: 2, managedFields: [{}] },
  spec: { template: { spec: { containers: [{ name: 'web', image: 'web:2', env: [SECRET] }] } } },
  status: { observedGeneration: 2, updateRevision: 'web-3' },
};
const objects = { [POD]: pod(), [SET]: statefulSet };
const collected = { [POD_DETAIL.result]: JSON.stringify(pod()) };

describe('statefulset-detail-collector', () => {
  const { operation } = statefulsetDetail;
  const textOf = (status: object) =>
    textAt(status, 'operationResults', statefulsetDetail.result) ?? '';

  test('collects the StatefulSet of the pod, without private values', async () => {
    const controller = await cluster({ operation, objects, results: collected });
    const status = await ended(controller);
    expect(status).toMatchObject({ phase: 'Succeeded', result: 'Completed' });
    expect(JSON.parse(textOf(status))).toMatchObject({
      ...{ apiVersion: 'apps/v1', kind: 'StatefulSet' },
      metadata: { name: 'web', uid: 'set' },
    });
    expect(textOf(status)).not.toMatch(/geheim|managedFields/);
  });

  test('collects a named one', async () => {
    const spec = {
      parameters: { [statefulsetDetail.name]: 'web', [statefulsetDetail.namespace]: 'default' },
    };
    const controller = await cluster({ operation, objects, spec });
    expect(textOf(await ended(controller))).toContain('"uid":"set"');
  });

  const other = '/apis/apps/v1/namespaces/other/statefulsets/web';
  test.each([
    ['a StatefulSet', { [statefulsetDetail.name]: 'web', [statefulsetDetail.namespace]: 'other' }],
    [
      'a pod',
      { [POD_DETAIL.result]: JSON.stringify({ metadata: { name: 'web-1', namespace: 'other' } }) },
    ],
  ])('refuses %s of another namespace', async (_, parameters) => {
    const elsewhere = { ...objects, [other]: statefulSet };
    const controller = await cluster({ operation, objects: elsewhere, spec: { parameters } });
    const message = expect.stringContaining('not in the namespace of the Diagnosis');
    expect(await ended(controller)).toMatchObject({ steps: [{ outcome: 'Failed', message }] });
  });

  test('of a Diagnosis of a pod collects no other StatefulSet', async () => {
    const spec = {
      podReference: { namespace: 'default', name: 'web-1' },
      parameters: { [statefulsetDetail.name]: 'other', [statefulsetDetail.namespace]: 'default' },
    };
    const controller = await cluster({ operation, objects, spec });
    expect(textOf(await ended(controller))).toContain('"name":"web"');
  });
});

describe('statefulset-stuck', () => {
  const { operation } = statefulsetStuck;
  const results = { ...collected, [statefulsetDetail.result]: '{}' };

  test('deletes the pod that blocks the rollout', async () => {
    const controller = await cluster({ operation, objects, results });
    expect(await ended(controller)).toMatchObject({
      result: 'Repaired',
      actions: [{ kind: 'delete-pod', description: 'delete pod default/web-1', state: 'done' }],
      operationResults: {
        [statefulsetStuck.bugLink]: 'https://github.com/kubernetes/kubernetes/issues/67250',
      },
    });
    expect(controller.api.objects.get(POD)).toBeUndefined();
  });

  test.each([
    ['is on another node', pod({ nodeName: 'web-4' }), 'not on web-3'],
    ['has the image of the template', pod({ image: 'web:2' }), 'still has this image'],
    [
      'belongs to nothing',
      { ...pod(), metadata: { ...pod().metadata, ownerReferences: [] } },
      'not by a StatefulSet',
    ],
    [
      'belongs to an earlier StatefulSet of this name',
      { ...pod(), metadata: { ...pod().metadata, ownerReferences: [{ ...OWNER, uid: 'x' }] } },
      'does not exist',
    ],
  ])('leaves a pod alone that %s', async (_, live, why) => {
    const controller = await cluster({ operation, objects: { ...objects, [POD]: live }, results });
    const message = expect.stringContaining(why);
    expect(await ended(controller)).toMatchObject({ steps: [{ outcome: 'Failed', message }] });
    expect(controller.api.objects.get(POD)).toBeDefined();
  });

  // An earlier attempt of the step may have deleted it.
  test.each([
    ['was replaced', pod({ uid: 'newer' })],
    ['was replaced', pod({ uid: 'newer', nodeName: 'web-4' })],
    ['was deleted', undefined],
  ])('has nothing to do when the pod %s since it was collected', async (what, live) => {
    const given = { [SET]: statefulSet, ...(live ? { [POD]: live } : {}) };
    const controller = await cluster({ operation, objects: given, results });
    const status = await ended(controller);
    expect(status).toMatchObject({ phase: 'Succeeded', result: 'Completed' });
    expect(textAt(status, 'operationResults', statefulsetStuck.result)).toContain(what);
    expect(status).not.toHaveProperty('actions');
    expect(controller.api.objects.get(POD)?.metadata).toMatchObject(live ? { uid: 'newer' } : {});
  });
});

test('a step of an agent is left to the agent', async () => {
  const controller = await cluster({ operation: nodeCordon.operation });
  const list = [{ to: [1] }, { operation: 'pod-list-collector' }];
  const spec = { adjacencyList: list };
  controller.api.put(`${OURS}/operationsets/other`, {
    ...{ apiVersion: API_VERSION, kind: 'OperationSet', metadata: { name: 'other' }, spec },
  });
  const status = { ...due('pod-list-collector'), adjacencyListHash: adjacencyHash(list) };
  controller.diagnosis('other', { nodeName: 'web-3', operationSet: 'other' }, status);
  await ended(controller);
  expect(controller.stored('other')?.status).toEqual(status);
});
