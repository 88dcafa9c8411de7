import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { kubeStore } from '../../src/pipeline/kube/kube-store.ts';
import { type ApiServer, startApiServer } from '../rig/api-server.ts';
import { ControlledCluster } from '../rig/controlled-cluster.ts';
import { type ControllerHere, controllerHere, createNamespace } from '../rig/controller-here.ts';

/** Diagnoses whose pods, nodes or agents are missing, lost or late, on a real API server. */

const WAIT = { timeout: 40_000, interval: 100 };
const TIMES = { arrivalMs: 1_000, lostEndMs: 8_000 };
const LEASE_SECONDS = 4;
const OTHER_NAMESPACE = 'other';

let api: ApiServer;
let cluster: ControlledCluster;
const running: ControllerHere[] = [];
const agents: (() => void)[] = [];

beforeAll(async () => {
  api = await startApiServer();
  await createNamespace(api);
  cluster = new ControlledCluster(api);
  await api.client.request({
    method: 'POST',
    path: '/api/v1/namespaces/default/serviceaccounts',
    body: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } },
  });
});
afterAll(() => api.stop());
beforeEach(() => api.clear());
afterEach(async () => {
  for (const stop of agents.splice(0)) stop();
  await Promise.all(running.splice(0).map(({ stop }) => stop()));
});

async function controller(options: Parameters<typeof controllerHere>[1] = {}) {
  const started = await controllerHere(api, { times: TIMES, ...options });
  running.push(started);
  return started;
}

function agent(nodeName: string, seconds = LEASE_SECONDS, namespace?: string): () => void {
  const stop = cluster.agent(nodeName, seconds, namespace);
  agents.push(stop);
  return stop;
}

const RUNNING = { phase: 'Running', startTime: new Date().toISOString().replace(/[.]\d+/, '') };

async function diagnosisOn(nodeName: string, name: string, spec: object = {}): Promise<void> {
  await cluster.diagnosis(name, { nodeName, ...spec });
  await cluster.agentWrites(name, RUNNING);
}

async function expectReasons(name: string, expected: string): Promise<void> {
  await expect.poll(() => cluster.reasonsOf(name), WAIT).toBe(expected);
}

test('an agent is lost, returns, and is lost for good', async () => {
  await cluster.node('a-1');
  const first = agent('a-1');
  await diagnosisOn('a-1', 'd');
  await diagnosisOn('a-1', 'suspended', { suspend: true });
  await diagnosisOn('a-1', 'cancelled');
  await controller();
  await sleep(LEASE_SECONDS * 2_000);
  expect(await cluster.reasonsOf('d')).toBe('Running');
  first();
  await expectReasons('d', 'Running AgentLost=True');
  await expectReasons('suspended', 'Running AgentLost=True');
  await expectReasons('cancelled', 'Running AgentLost=True');
  const second = agent('a-1');
  await expectReasons('d', 'Running AgentReturned=False');
  // It goes on where it was.
  await cluster.agentWrites('d', { operationResults: { a: 'b' } });
  second();
  await expectReasons('d', 'Running AgentLost=True');
  await cluster.change('cancelled', { cancel: true });
  await expectReasons('cancelled', 'Failed AgentLost=True DiagnosisCancelled=True');
  await expectReasons('d', 'Failed AgentLost=True AgentLost=True');
  await expectReasons('suspended', 'Failed AgentLost=True AgentLost=True');
  expect((await cluster.stored('d'))?.status).toMatchObject({
    result: 'Error',
    operationResults: { a: 'b' },
  });
  await expect.poll(() => cluster.events('d'), WAIT).toEqual(['AgentLost']);
  expect(await cluster.events('cancelled')).toEqual(['DiagnosisCancelled']);
});

test('a node without an agent, one that does not exist, and one that is deleted', async () => {
  await cluster.node('b-1');
  await cluster.node('b-2');
  agent('b-2');
  await cluster.diagnosis('missing', { nodeName: 'b-1' });
  await cluster.diagnosis('late', { nodeName: 'b-1', deadlineSeconds: 1 });
  await cluster.diagnosis('mistyped', { nodeName: 'b-3' });
  await diagnosisOn('b-2', 'deleted');
  await controller();
  await expectReasons('missing', 'Pending AgentMissing=True');
  await expectReasons('late', 'Failed AgentMissing=True DeadlineExceeded=True');
  await expectReasons('mistyped', 'Failed AgentLost=True NodeNotFound=True');
  await cluster.deleteNode('b-2');
  await expectReasons('deleted', 'Failed AgentLost=True NodeNotFound=True');
  await expectReasons('missing', 'Failed AgentMissing=True AgentMissing=True');
});

test('the node of a pod that is created and scheduled late, and a pod that never is', async () => {
  await cluster.node('c-1');
  agent('c-1');
  await controller({ times: { arrivalMs: 6_000 } });
  const pod = (name: string) => ({ podReference: { namespace: 'default', name } });
  await cluster.diagnosis('by-pod', pod('web'));
  await cluster.diagnosis('never', pod('none'));
  await expectReasons('by-pod', 'Pending PodPending=True');
  await cluster.pod('web');
  await expect
    .poll(async () => JSON.stringify((await cluster.stored('by-pod'))?.status), WAIT)
    .toContain('not scheduled yet');
  await cluster.bind('web', 'c-1');
  const nodeName = async () => (await cluster.stored('by-pod'))?.spec.nodeName;
  await expect.poll(nodeName, WAIT).toBe('c-1');
  expect(await cluster.reasonsOf('by-pod')).toBe('Pending TargetFound=False');
  await expectReasons('never', 'Failed PodPending=True PodNotFound=True');
  await cluster.diagnosis('at-once', pod('web'));
  await expect.poll(async () => (await cluster.stored('at-once'))?.spec.nodeName, WAIT).toBe('c-1');
});

test('expired Diagnoses are deleted, those whose TTL is extended are not', async () => {
  await controller();
  const ended = { phase: 'Succeeded', endTime: new Date().toISOString() };
  const ttl = { nodeName: 'a-1', ttlSecondsAfterFinished: 2 };
  for (const name of ['short', 'extended']) {
    await cluster.diagnosis(name, ttl);
    await cluster.agentWrites(name, ended);
  }
  await cluster.change('extended', { ttlSecondsAfterFinished: 3_600 });
  await expect.poll(() => cluster.stored('short'), WAIT).toBeUndefined();
  await sleep(3_000);
  expect(await cluster.stored('extended')).toBeDefined();
});

test('the next leader goes on where the last one was', async () => {
  await cluster.node('e-1');
  agent('e-1')();
  await diagnosisOn('e-1', 'd');
  const times = { times: { ...TIMES, arrivalMs: 60_000 } };
  const first = await controller(times);
  await cluster.diagnosis('by-pod', { podReference: { namespace: 'default', name: 'later' } });
  await expectReasons('d', 'Running AgentLost=True');
  const second = await controller(times);
  running.splice(running.indexOf(first), 1);
  await first.stop();
  await expect.poll(() => second.messages, WAIT).toContain('became leader');
  await cluster.pod('later');
  await cluster.bind('later', 'e-1');
  await expectReasons('d', 'Failed AgentLost=True AgentLost=True');
  const nodeName = async () => (await cluster.stored('by-pod'))?.spec.nodeName;
  await expect.poll(nodeName, WAIT).toBe('e-1');
});

test('an API server that restarts: no agent is lost by it, and the controller goes on', async () => {
  await cluster.node('f-1');
  // Longer than the outage, as on a cluster.
  agent('f-1', 60);
  await diagnosisOn('f-1', 'd');
  const { messages } = await controller();
  await expect.poll(() => messages, WAIT).toContain('became leader');
  await api.part.stop('SIGKILL');
  await sleep(10_000);
  await api.part.start();
  await api.ready();
  await cluster.diagnosis('mistyped', { nodeName: 'f-9' });
  await expectReasons('mistyped', 'Failed AgentLost=True NodeNotFound=True');
  expect(await cluster.reasonsOf('d')).toBe('Running');
});

test('two controllers that both think they lead do no harm', async () => {
  const nodes = ['g-1', 'g-2', 'g-3'];
  for (const name of nodes) {
    await cluster.node(name);
    // Each controller sees them in its own namespace.
    agent(name);
    agent(name, LEASE_SECONDS, OTHER_NAMESPACE);
  }
  await cluster.node('g-lost');
  const [one, other] = [await controller(), await controller({ namespace: OTHER_NAMESPACE })];
  await expect.poll(() => one.messages, WAIT).toContain('became leader');
  await expect.poll(() => other.messages, WAIT).toContain('became leader');
  await cluster.pod('shared');
  const numbers = Array.from({ length: 10 }, (_, at) => at);
  const ttl = { ttlSecondsAfterFinished: 0 };
  for (const at of numbers) {
    await cluster.diagnosis(`pod-${at}`, {
      podReference: { namespace: 'default', name: 'shared' },
    });
    await cluster.diagnosis(`lost-${at}`, { nodeName: 'g-lost' });
    await cluster.diagnosis(`all-${at}`, { targetSelector: { nodeNames: nodes } });
    await cluster.diagnosis(`ended-${at}`, { nodeName: 'g-1', ...ttl });
    await cluster.agentWrites(`ended-${at}`, { phase: 'Succeeded' });
  }
  await cluster.bind('shared', 'g-2');
  for (const at of numbers) {
    await expect
      .poll(async () => (await cluster.stored(`pod-${at}`))?.spec.nodeName, WAIT)
      .toBe('g-2');
    await expectReasons(`lost-${at}`, 'Failed AgentMissing=True AgentMissing=True');
    // Ended once: one of both has written it.
    expect(await cluster.events(`lost-${at}`)).toEqual(['AgentMissing']);
    await expect.poll(() => cluster.stored(`ended-${at}`), WAIT).toBeUndefined();
  }
  const children = async () => {
    const { items } = await kubeStore(api.client).list('Diagnosis');
    return items.filter(({ metadata }) => metadata.ownerReferences?.length === 1);
  };
  await expect
    .poll(async () => (await children()).length, WAIT)
    .toBe(numbers.length * nodes.length);
  const places = (await children()).map(
    ({ metadata, spec }) => `${metadata.ownerReferences?.[0]?.name} ${String(spec.nodeName)}`,
  );
  expect(new Set(places).size).toBe(numbers.length * nodes.length);
});
