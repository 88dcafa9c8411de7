import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { NodeObjects } from '../../src/hosts/agent/node-status/node-objects.ts';
import { initialState, withCheck } from '../../src/hosts/agent/node-status/node-state.ts';
import { reportOf } from '../../src/hosts/agent/node-status/published-state.ts';
import { nodeCheckOf } from '../../src/hosts/executor/standing-check/node-check-of.ts';
import { fieldAt, listAt } from '../../src/lib/std/json.ts';
import { textOf } from '../../src/lib/std/text-codec.ts';
import { makeReport } from '../../src/node/checkup/make-report.ts';
import { staleSubpathMount } from '../../src/node/faults/stale-subpath-mount/fault.ts';
import type { Finding } from '../../src/node/model/finding.ts';
import { verdictOf } from '../../src/node/model/verdict.ts';
import { EventRecorder } from '../../src/pipeline/kube/event-recorder.ts';
import { kubeStore } from '../../src/pipeline/kube/kube-store.ts';
import { keepLease, Lease } from '../../src/pipeline/kube/lease.ts';
import { applyObject, objectAt } from '../../src/pipeline/kube/objects.ts';
import { describeStore, newDiagnosis } from '../../src/pipeline/store/store-contract.ts';
import { type ApiServer, startApiServer } from '../rig/api-server.ts';

let api: ApiServer;

beforeAll(async () => {
  api = await startApiServer();
});

afterAll(() => api.stop());

describeStore('API server', async () => {
  await api.clear();
  return kubeStore(api.client);
});

test('lists more objects than fit into one page', async () => {
  await api.clear();
  const store = kubeStore(api.client);
  const names = Array.from({ length: 230 }, (_, at) => `n${String(at).padStart(3, '0')}`);
  await Promise.all(names.map((name) => store.create(newDiagnosis(name))));
  const { items } = await store.list('Diagnosis');
  expect(items.map(({ metadata }) => metadata.name)).toEqual(names);
});

const leasePath = '/apis/coordination.k8s.io/v1/namespaces/default/leases';

function leaseOf(name: string, holder: string, durationSeconds = 60): Lease {
  return new Lease(api.client, { namespace: 'default', name, holder, durationSeconds });
}

test('one of several processes holds a Lease', async () => {
  const holders = Array.from({ length: 8 }, (_, at) => leaseOf('one', `holder-${at}`));
  const held = await Promise.all(holders.map((lease) => lease.hold()));
  expect(held.filter(Boolean)).toHaveLength(1);
  const winner = holders[held.indexOf(true)];
  expect(holders.filter(({ isHeld }) => isHeld)).toEqual([winner]);
  // Renewed, not taken.
  expect(await winner?.hold()).toBe(true);
  const lease = await objectAt(api.client, `${leasePath}/one`);
  expect(fieldAt(lease, 'spec')).toMatchObject({
    holderIdentity: `holder-${held.indexOf(true)}`,
    leaseDurationSeconds: 60,
    leaseTransitions: 0,
  });
  await winner?.release();
  expect(winner?.isHeld).toBe(false);
  const [next] = holders.filter((each) => each !== winner);
  expect(await next?.hold()).toBe(true);
  expect(await winner?.hold()).toBe(false);
});

test('a Lease that is not renewed is taken when its duration has passed', async () => {
  const dead = leaseOf('two', 'dead', 1);
  expect(await dead.hold()).toBe(true);
  const next = leaseOf('two', 'next', 1);
  // The first sight begins the wait: clocks are not compared.
  expect(await next.hold()).toBe(false);
  await expect.poll(() => next.hold(), { interval: 200 }).toBe(true);
  expect(dead.isHeld).toBe(false);
  expect(await dead.hold()).toBe(false);
  const lease = await objectAt(api.client, `${leasePath}/two`);
  expect(fieldAt(lease, 'spec')).toMatchObject({ holderIdentity: 'next', leaseTransitions: 1 });
});

test('a Lease is renewed until its process stops, also when somebody deletes it', async () => {
  const stop = new AbortController();
  const errors: string[] = [];
  const keeping = keepLease(leaseOf('three', 'me'), {
    intervalMs: 100,
    stop: stop.signal,
    onError: (message) => errors.push(message),
  });
  const path = `${leasePath}/three`;
  const renewTime = async () => fieldAt(await objectAt(api.client, path), 'spec', 'renewTime');
  await expect.poll(renewTime).toBeDefined();
  const first = await renewTime();
  await expect.poll(renewTime).not.toBe(first);
  await api.client.request({ method: 'DELETE', path });
  await expect.poll(renewTime).toBeDefined();
  stop.abort();
  await keeping;
  expect(errors).toEqual([]);
  const lease = await objectAt(api.client, path);
  expect(fieldAt(lease, 'spec', 'holderIdentity') ?? '').toBe('');
});

test('a Lease that another process holds is reported', async () => {
  await leaseOf('four', 'another').hold();
  const stop = new AbortController();
  const errors: string[] = [];
  const onError = (message: string) => errors.push(message);
  const keeping = keepLease(leaseOf('four', 'me'), { intervalMs: 100, stop: stop.signal, onError });
  await expect.poll(() => errors).toContain('another process holds or changes it');
  stop.abort();
  await keeping;
});

test('an agent publishes what is in the file names of a node, whatever bytes they have', async () => {
  const name = 'odd-node';
  const body = { apiVersion: 'v1', kind: 'Node', metadata: { name } };
  await api.client.request({ method: 'POST', path: '/api/v1/nodes', body });
  const bytes = Array.from({ length: 256 }, (_, byte) => textOf(Uint8Array.of(byte))).join('');
  const odd = `${bytes}\u2028\ufffe\u{10ffff}`;
  const proof = [{ claim: odd, text: odd, origin: { file: odd } }];
  const finding: Finding = {
    ...{ state: 'active', reason: 'Odd', summary: odd, subject: { path: odd }, proof, pins: {} },
    ...{ blastRadius: '', excluded: [], alternatives: [] },
  };
  const judged = [
    { fault: staleSubpathMount, verdict: verdictOf({ findings: [finding], unknowns: [] }) },
  ];
  const kubelet = { presence: 'running', version: odd } as const;
  const report = makeReport({ name, time: '', kubelet, tookMs: 1 }, judged);
  const check = nodeCheckOf(report, judged, '0.1.0', new Date());
  const status = reportOf(withCheck(initialState(), check, 0));
  if (!status) throw new Error('there is nothing to publish');
  const objects = new NodeObjects(api.client, name);
  await objects.writeReport(status);
  expect(await objects.report()).toMatchObject({ state: 'active', findings: [{ reason: 'Odd' }] });
});

test('writes Events that kubectl describe finds, as a series', async () => {
  const { client } = api;
  const store = kubeStore(client);
  await api.clear();
  const { metadata } = await store.create(newDiagnosis('one'));
  const regarding = {
    apiVersion: 'diagnosis.kubediag.org/v1',
    kind: 'Diagnosis',
    name: 'one',
    namespace: 'default',
    uid: metadata.uid,
  };
  const recorder = new EventRecorder(client, { controller: 'kubediag.org/agent', instance: 'n' });
  const event = { regarding, type: 'Warning', reason: 'Tested', action: 'Test' } as const;
  for (let count = 0; count < 3; count += 1) {
    await recorder.record({ ...event, note: 'é'.repeat(1000) });
    await sleep(10);
  }
  await recorder.record({ ...event, note: 'another' });
  const node = { apiVersion: 'v1', kind: 'Node', name: 'web-3' };
  await recorder.record({ ...event, regarding: node, note: 'of a node' });
  const found = await client.request({
    method: 'GET',
    path: '/api/v1/namespaces/default/events',
    // The selector of kubectl describe.
    query: { fieldSelector: `involvedObject.uid=${metadata.uid},involvedObject.kind=Diagnosis` },
  });
  const items = listAt(found, 'items') ?? [];
  expect(items).toHaveLength(2);
  const counts = items.map((item) => fieldAt(item, 'series', 'count'));
  expect(new Set(counts)).toEqual(new Set([3, undefined]));
});

test('applies fields as their owner, and removes those that are no longer given', async () => {
  const path = '/api/v1/namespaces/default/configmaps/applied';
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied' } };
  await applyObject(api.client, path, { ...object, data: { a: '1', b: '2' } }, 'test');
  const applied = await applyObject(api.client, path, { ...object, data: { a: '3' } }, 'test');
  expect(fieldAt(applied, 'data')).toEqual({ a: '3' });
});
