import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { childName } from '../../src/hosts/controller/fan-out/child-diagnosis.ts';
import { textAt } from '../../src/lib/std/json.ts';
import { NAMESPACE, PARENT_LABEL } from '../../src/pipeline/api/cluster-names.ts';
import type { DiagnosisSpec, DiagnosisStatus } from '../../src/pipeline/api/diagnosis.ts';
import { API_VERSION } from '../../src/pipeline/api/kind-names.ts';
import { kubeStore } from '../../src/pipeline/kube/kube-store.ts';
import type { Store, StoredObject } from '../../src/pipeline/store/store.ts';
import { type ApiServer, startApiServer } from '../rig/api-server.ts';
import { type ControllerHere, controllerHere, createNamespace } from '../rig/controller-here.ts';
import {
  type ControllerProcess,
  controllerProcess as startControllerProcess,
} from '../rig/controller-process.ts';
import { SimulatedAgents, type SimulatedStep, stepOf } from '../rig/simulated-agents.ts';

/** Diagnoses of many nodes on a real API server, with agents that only simulate their steps. */

const WAIT = { timeout: 120_000, interval: 200 };
const COUNT = 400;

let api: ApiServer;
let store: Store;
let agents: SimulatedAgents;
let step: SimulatedStep;
const controllers: ControllerHere[] = [];
const processes: ControllerProcess[] = [];

beforeAll(async () => {
  api = await startApiServer();
  await createNamespace(api);
  store = kubeStore(api.client);
  agents = new SimulatedAgents(api, COUNT, { step: (...given) => step(...given) });
  await agents.start();
});
afterAll(async () => {
  await agents.stop();
  await api.stop();
});
beforeEach(async () => {
  await api.clear();
  agents.runs.clear();
  step = stepOf(20);
  const processor = { scriptRunner: { script: 'true' }, timeoutSeconds: 30 };
  await store.create({
    apiVersion: API_VERSION,
    kind: 'Operation',
    metadata: { name: 'step' },
    spec: { processor },
  });
  await store.create({
    apiVersion: API_VERSION,
    kind: 'OperationSet',
    metadata: { name: 'one-step' },
    spec: { adjacencyList: [{ to: [1] }, { operation: 'step' }] },
  });
});
afterEach(async () => {
  await Promise.all(controllers.splice(0).map(({ stop }) => stop()));
  await Promise.all(processes.splice(0).map(({ end }) => end('SIGKILL')));
});

async function controllerIn(namespace = NAMESPACE): Promise<void> {
  controllers.push(await controllerHere(api, { builtIns: [], namespace }));
}

async function controllerProcess(): Promise<ControllerProcess> {
  const running = await startControllerProcess(api);
  processes.push(running);
  return running;
}

const key = (name: string) => ({ kind: 'Diagnosis' as const, namespace: 'default', name });

async function create(name: string, spec: Partial<DiagnosisSpec> = {}): Promise<StoredObject> {
  const all = { nodeSelector: {} };
  return store.create({
    apiVersion: API_VERSION,
    kind: 'Diagnosis',
    metadata: { name, namespace: 'default' },
    spec: { operationSet: 'one-step', targetSelector: all, ...spec },
  });
}

async function statusOf(name: string): Promise<DiagnosisStatus> {
  return (await store.get(key(name)))?.status ?? {};
}

async function childrenOf({ metadata }: StoredObject): Promise<readonly StoredObject[]> {
  const labelSelector = `${PARENT_LABEL}=${metadata.uid}`;
  return (await store.list('Diagnosis', { labelSelector })).items;
}

async function ended(name: string): Promise<DiagnosisStatus> {
  await expect.poll(async () => (await statusOf(name)).endTime, WAIT).toBeDefined();
  return statusOf(name);
}

function runTwice(): readonly string[] {
  return [...agents.runs].filter(([, times]) => times > 1).map(([uid]) => uid);
}

async function change(name: string, spec: Partial<DiagnosisSpec>): Promise<void> {
  await api.client.request({
    method: 'PATCH',
    path: `/apis/${API_VERSION}/namespaces/default/diagnoses/${name}`,
    contentType: 'application/merge-patch+json',
    body: { spec },
  });
}

test('every node gets one Diagnosis, and the parent has the counts', async () => {
  await controllerIn();
  const parent = await create('all', { ttlSecondsAfterFinished: 3_600 });
  const status = await ended('all');
  expect(status).toMatchObject({
    phase: 'Succeeded',
    result: 'Completed',
    progress: `${COUNT}/${COUNT}`,
    nodes: { total: COUNT, waiting: 0, running: 0, succeeded: COUNT, failed: 0, created: COUNT },
    nodeNames: agents.nodeNames,
    observedGeneration: 1,
  });
  const children = await childrenOf(parent);
  expect(children).toHaveLength(COUNT);
  expect(new Set(children.map(({ spec }) => spec.nodeName)).size).toBe(COUNT);
  expect(children.every(({ spec }) => spec.ttlSecondsAfterFinished === undefined)).toBe(true);
  expect(agents.runs.size).toBe(COUNT);
  expect(runTwice()).toEqual([]);
  expect(agents.errors).toEqual([]);
});

test('some nodes fail, some are healthy, and some names are no nodes', async () => {
  step = async (name) =>
    name.endsWith('1')
      ? { succeeded: false, message: `disk of ${name} is full` }
      : { succeeded: false, message: 'absent', reason: 'NothingFound' };
  await controllerIn();
  const nodeNames = [...agents.nodeNames.slice(0, 40), 'nowhere'];
  const { metadata } = await create('some', { targetSelector: { nodeNames } });
  const status = await ended('some');
  expect(status).toMatchObject({
    phase: 'Failed',
    result: 'Error',
    progress: '41/41',
    nodes: { total: 41, succeeded: 36, failed: 5, results: { Error: 5, NothingFound: 36 } },
  });
  expect(status.failedNodes).toMatchObject([
    { name: 'nowhere', message: 'Node nowhere does not exist' },
    { name: 'sim-0001', diagnosis: childName(metadata, 'sim-0001') },
    { name: 'sim-0011' },
    { name: 'sim-0021' },
    { name: 'sim-0031' },
  ]);
  // All of them are healthy.
  await create('healthy', { targetSelector: { nodeSelector: { matchLabels: { even: 'true' } } } });
  expect(await ended('healthy')).toMatchObject({
    phase: 'Succeeded',
    result: 'NothingFound',
    progress: `${COUNT / 2}/${COUNT / 2}`,
  });
});

test('nodes of pods by their labels, and a pod that is not there', async () => {
  await controllerIn();
  const pods = '/api/v1/namespaces/other/pods';
  await api.client.request({
    method: 'POST',
    path: '/api/v1/namespaces/other/serviceaccounts',
    body: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } },
  });
  for (const [name, nodeName] of [
    ['web-0', 'sim-0003'],
    ['web-1', 'sim-0004'],
    ['web-2', 'sim-0003'],
  ]) {
    const body = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, labels: { app: 'web' } },
      spec: {
        nodeName,
        containers: [{ name: 'web', image: 'web' }],
        serviceAccountName: 'default',
      },
    };
    await api.client.request({ method: 'POST', path: pods, body });
  }
  const matchExpressions = [{ key: 'app', operator: 'In' as const, values: ['web', 'db'] }];
  await create('labels', { targetSelector: { podSelector: { matchExpressions } } });
  expect(await ended('labels')).toMatchObject({
    phase: 'Succeeded',
    nodeNames: ['sim-0003', 'sim-0004'],
  });
  const podReferences = ['web-1', 'web-9'].map((name) => ({ namespace: 'other', name }));
  await create('pods', { targetSelector: { podReferences } });
  expect(await ended('pods')).toMatchObject({
    phase: 'Failed',
    nodeNames: ['sim-0004'],
    failedNodes: [{ name: 'other/web-9', message: 'Pod other/web-9 does not exist' }],
  });
});

test('the next leader goes on when the first is killed, and nothing runs twice', async () => {
  const first = await controllerProcess();
  await expect.poll(() => first.said(), WAIT).toContain('became leader');
  await controllerProcess();
  const parent = await create('all');
  await expect.poll(async () => (await childrenOf(parent)).length, WAIT).toBeGreaterThan(30);
  processes.splice(processes.indexOf(first), 1);
  await first.end('SIGKILL');
  expect((await childrenOf(parent)).length).toBeLessThan(COUNT);
  const status = await ended('all');
  expect(status).toMatchObject({ phase: 'Succeeded', nodes: { succeeded: COUNT, failed: 0 } });
  expect(await childrenOf(parent)).toHaveLength(COUNT);
  expect(agents.runs.size).toBe(COUNT);
  expect(runTwice()).toEqual([]);
});

test('a cancel ends what runs, and begins nothing', async () => {
  step = stepOf(60_000);
  await controllerIn();
  const parent = await create('all');
  await expect.poll(async () => (await childrenOf(parent)).length, WAIT).toBeGreaterThan(10);
  await change('all', { cancel: true });
  const status = await ended('all');
  expect(status).toMatchObject({
    phase: 'Failed',
    result: 'Cancelled',
    nodes: { total: COUNT, failed: COUNT, waiting: 0, running: 0 },
  });
  expect(status.failedNodes).toHaveLength(20);
  const children = await childrenOf(parent);
  expect(children.length).toBeLessThan(COUNT);
  expect(children.map(({ status: each }) => textAt(each, 'phase'))).not.toContain('Running');
});

test('suspend stops the creation and the children, and both go on', async () => {
  step = stepOf(5_000);
  await controllerIn();
  const parent = await create('all', { deadlineSeconds: 600 });
  await expect.poll(async () => (await childrenOf(parent)).length, WAIT).toBeGreaterThan(5);
  await change('all', { suspend: true });
  await sleep(3_000);
  const before = await childrenOf(parent);
  expect(before.length).toBeLessThan(COUNT);
  const open = before.filter(({ status }) => textAt(status, 'endTime') === undefined);
  expect(open).not.toEqual([]);
  expect(open.every(({ spec }) => spec.suspend === true)).toBe(true);
  await sleep(2_000);
  expect(await childrenOf(parent)).toHaveLength(before.length);
  await change('all', { suspend: false, deadlineSeconds: 1_200 });
  expect(await ended('all')).toMatchObject({ phase: 'Succeeded', progress: `${COUNT}/${COUNT}` });
});

test('a deleted child has failed and does not come back, a taken name is left alone', async () => {
  const names = ['sim-0000', 'sim-0001', 'sim-0002'] as const;
  step = stepOf(8_000);
  const parent = await create('all', { targetSelector: { nodeNames: [...names] } });
  const taken = childName(parent.metadata, names[2]);
  await create(taken, { targetSelector: { nodeNames: ['nowhere'] }, suspend: true });
  await controllerIn();
  await expect.poll(async () => (await statusOf('all')).nodes?.running, WAIT).toBe(2);
  await store.delete(key(childName(parent.metadata, names[1])));
  const status = await ended('all');
  expect(status).toMatchObject({
    phase: 'Failed',
    nodes: { succeeded: 1, failed: 2 },
    failedNodes: [
      { name: names[1], message: expect.stringContaining('was deleted') },
      { name: names[2], message: expect.stringContaining('exists already') },
    ],
  });
  expect(await childrenOf(parent)).toHaveLength(1);
  expect((await store.get(key(taken)))?.metadata.labels).toBeUndefined();
});

test('a Diagnosis that is deleted and created again does not meet the children of the first one', async () => {
  step = stepOf(2_000);
  await controllerIn();
  const first = await create('all');
  await expect.poll(async () => (await childrenOf(first)).length, WAIT).toBeGreaterThan(10);
  await store.delete(key('all'));
  // As kubectl does: in the background, and no garbage collector runs here.
  const second = await create('all');
  expect(await ended('all')).toMatchObject({ phase: 'Succeeded', nodes: { succeeded: COUNT } });
  expect(await childrenOf(second)).toHaveLength(COUNT);
  expect((await childrenOf(first)).length).toBeGreaterThan(10);
});

test('a lost node does not hold back the end at the deadline', async () => {
  const lost = agents.nodeNames.slice(0, 3);
  await agents.lose(lost);
  await controllerIn();
  const nodeNames = agents.nodeNames.slice(0, 10);
  const parent = await create('some', { targetSelector: { nodeNames }, deadlineSeconds: 8 });
  const status = await ended('some');
  expect(status).toMatchObject({
    phase: 'Failed',
    result: 'Error',
    progress: '7/10',
    nodes: { waiting: 3, succeeded: 7 },
  });
  // Nothing begins when the nodes come back.
  const cancelled = async () => {
    const children = await childrenOf(parent);
    return children.filter(({ spec }) => spec.cancel === true).map(({ spec }) => spec.nodeName);
  };
  await expect.poll(async () => new Set(await cancelled()), WAIT).toEqual(new Set(lost));
  await agents.start(lost);
  await expect
    .poll(
      async () =>
        (await childrenOf(parent)).every(({ status: { phase } = {} }) => phase !== undefined),
      WAIT,
    )
    .toBe(true);
  expect(agents.runs.size).toBe(7);
});

test('nothing is selected until a node with the labels arrives', async () => {
  await controllerIn();
  const matchLabels = { 'kubernetes.io/os': 'plan9' };
  await create('late', { targetSelector: { nodeSelector: { matchLabels } } });
  await expect.poll(async () => (await statusOf('late')).phase, WAIT).toBe('Pending');
  await api.client.request({
    method: 'PATCH',
    path: '/api/v1/nodes/sim-0007',
    contentType: 'application/merge-patch+json',
    body: { metadata: { labels: matchLabels } },
  });
  expect(await ended('late')).toMatchObject({ phase: 'Succeeded', nodeNames: ['sim-0007'] });
});

test('two controllers that both lead create one Diagnosis for each node', async () => {
  // Each has a Lease of its own.
  await Promise.all([controllerIn(), controllerIn('other')]);
  const parent = await create('all');
  expect(await ended('all')).toMatchObject({
    phase: 'Succeeded',
    nodes: { total: COUNT, succeeded: COUNT, created: COUNT },
  });
  expect(await childrenOf(parent)).toHaveLength(COUNT);
  expect(agents.runs.size).toBe(COUNT);
  expect(runTwice()).toEqual([]);
});

test('the API server goes away in the middle, and everything ends', async () => {
  step = stepOf(2_000);
  await controllerIn();
  const parent = await create('all');
  await expect.poll(async () => (await childrenOf(parent)).length, WAIT).toBeGreaterThan(30);
  await api.part.stop('SIGKILL');
  await sleep(1_000);
  await api.part.start();
  await api.ready();
  expect(await ended('all')).toMatchObject({ phase: 'Succeeded', nodes: { succeeded: COUNT } });
  expect(await childrenOf(parent)).toHaveLength(COUNT);
  expect(runTwice()).toEqual([]);
});
