import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { observedPolicy, recoveryPolicy } from '../../../../test/recovery-objects.ts';
import { SyntheticController } from '../../../../test/synthetic-controller.ts';
import { textAt } from '../../../lib/std/json.ts';
import { StoreError } from '../../../pipeline/store/store-error.ts';
import { childName } from './child-diagnosis.ts';
import { fanOut } from './fan-out.ts';

const started: SyntheticController[] = [];
afterEach(() => {
  for (const each of started.splice(0)) each.stop();
});

const POLL = { timeout: 15_000, interval: 20 };
const NODES = ['a', 'b', 'c'];
const SPEC = { targetSelector: { nodeNames: NODES } };
const AT = '/apis/diagnosis.kubediag.org/v1/namespaces/default/diagnoses';

function controllerOf(): SyntheticController {
  const controller = new SyntheticController();
  started.push(controller);
  for (const name of NODES) controller.node(name);
  return controller;
}

async function begun(controller: SyntheticController): Promise<void> {
  await controller.start();
  void fanOut(controller.context);
}

const child = (node: string, uid = 'uid-of-all') => childName({ name: 'all', uid }, node);

function end(controller: SyntheticController, node: string, result = 'Repaired'): void {
  const phase = result === 'Error' ? 'Failed' : 'Succeeded';
  controller.change(child(node), { status: { phase, result } });
}

function creations({ api }: SyntheticController): number {
  return api.writes.filter((each) => each === `POST ${AT}`).length;
}

/** Several are created at once, in any order. */
async function created(controller: SyntheticController, nodes = NODES): Promise<void> {
  const all = () => nodes.every((node) => controller.stored(child(node)) !== undefined);
  await expect.poll(all, POLL).toBe(true);
}

test('creates a Diagnosis for each node, counts them, and writes the last state', async () => {
  const controller = controllerOf();
  controller.diagnosis('all', SPEC);
  await begun(controller);
  await created(controller);
  for (const node of NODES) end(controller, node);
  const status = () => controller.stored('all')?.status;
  await expect.poll(status, POLL).toMatchObject({
    phase: 'Succeeded',
    result: 'Repaired',
    progress: '3/3',
    nodes: { total: 3, succeeded: 3, created: 3, results: { Repaired: 3 } },
  });
  expect(creations(controller)).toBe(3);
  // Pending, Running, created, and at most two while they ended.
  const writes = controller.api.writes.filter((each) => each.endsWith('/all/status'));
  expect(writes.length).toBeLessThanOrEqual(5);
});

test('an object with the name of a child is not adopted, and forged children do not count', async () => {
  const controller = controllerOf();
  controller.diagnosis('all', SPEC);
  controller.diagnosis(child('a'), { nodeName: 'a', cancel: false });
  const labels = { 'diagnosis.kubediag.org/parent-uid': 'uid-of-all' };
  const forge = (name: string, ownerReferences: readonly object[]) =>
    controller.api.put(`${AT}/${name}`, {
      metadata: { name, namespace: 'default', uid: name, labels, ownerReferences },
      spec: { operationSet: 'set', nodeName: 'b' },
      status: { phase: 'Failed', result: 'Error' },
    });
  forge('by-label', []);
  const owner = { apiVersion: 'diagnosis.kubediag.org/v1', kind: 'Diagnosis', uid: 'uid-of-all' };
  forge('by-owner', [{ ...owner, controller: true }]);
  await begun(controller);
  await created(controller);
  // Neither does its deletion.
  controller.api.remove(`${AT}/by-owner`);
  end(controller, 'b');
  end(controller, 'c');
  await expect
    .poll(() => controller.stored('all')?.status, POLL)
    .toMatchObject({
      phase: 'Failed',
      nodes: { succeeded: 2, failed: 1 },
      failedNodes: [{ name: 'a', message: expect.stringContaining('does not belong to this one') }],
    });
  expect(controller.stored(child('a'))).toMatchObject({ spec: { nodeName: 'a', cancel: false } });
});

test.each([
  ['with another name', 'default', 'forged'],
  ['in another namespace', 'other', child('b')],
])('the deletion of a forged child %s does not fail the node', async (_, namespace, name) => {
  const controller = controllerOf();
  controller.diagnosis('all', { ...SPEC, suspend: true });
  await begun(controller);
  await expect.poll(() => controller.stored('all')?.status?.phase, POLL).toBe('Pending');
  const metadata = {
    ...{ name, namespace, uid: 'forged' },
    labels: { 'diagnosis.kubediag.org/parent-uid': 'uid-of-all' },
    ownerReferences: [
      {
        apiVersion: 'diagnosis.kubediag.org/v1',
        kind: 'Diagnosis',
        uid: 'uid-of-all',
        controller: true,
      },
    ],
  };
  const path = `${AT.replace('/default/', `/${namespace}/`)}/${name}`;
  controller.api.put(path, { metadata, spec: { operationSet: 'set', nodeName: 'b' } });
  controller.api.remove(path);
  controller.change('all', { spec: { suspend: false } });
  await expect
    .poll(() => controller.stored('all')?.status?.nodes, POLL)
    .toMatchObject({
      created: 3,
      failed: 0,
    });
  expect(controller.stored(child('b'))).toBeDefined();
});

test('a Diagnosis that is deleted and created again leaves the children of the first one alone', async () => {
  const controller = controllerOf();
  controller.diagnosis('all', SPEC);
  await begun(controller);
  await created(controller);
  // The garbage collector has not come to the children yet.
  controller.api.remove(`${AT}/all`);
  controller.api.put(`${AT}/all`, {
    ...{ apiVersion: 'diagnosis.kubediag.org/v1', kind: 'Diagnosis' },
    metadata: { name: 'all', namespace: 'default', uid: 'later', generation: 1 },
    spec: { operationSet: 'set', ...SPEC },
  });
  await expect
    .poll(() => controller.stored('all')?.status, POLL)
    .toMatchObject({ nodes: { created: 3, waiting: 3, failed: 0 } });
  for (const node of NODES) {
    expect(controller.stored(child(node))?.spec.nodeName).toBe(node);
    expect(controller.stored(child(node, 'later'))?.spec.nodeName).toBe(node);
  }
});

test('a lost answer, and a server that asks to wait, create no second Diagnosis', async () => {
  const controller = controllerOf();
  controller.diagnosis('all', SPEC);
  const lost = new Set(NODES);
  let refusals = 2;
  const request = controller.api.request.bind(controller.api);
  controller.api.request = async (given) => {
    if (given.method !== 'POST') return request(given);
    if (refusals > 0) {
      refusals -= 1;
      throw new StoreError('TooManyRequests', 'too many requests', 50);
    }
    const answer = await request(given);
    const node = (given.body as { readonly spec: { readonly nodeName: string } }).spec.nodeName;
    if (!lost.delete(node)) return answer;
    throw new StoreError('ServiceUnavailable', 'no answer within 30 s');
  };
  await begun(controller);
  await expect
    .poll(() => controller.stored('all')?.status, POLL)
    .toMatchObject({ nodes: { created: 3, waiting: 3 } });
  expect(NODES.map((node) => controller.stored(child(node))?.spec.nodeName)).toEqual(NODES);
  expect(lost.size).toBe(0);
});

test('a namespace whose writes fail holds back no other namespace', async () => {
  const controller = controllerOf();
  const elsewhere = AT.replace('/default/', '/broken/');
  controller.api.put(`${elsewhere}/all`, {
    ...{ apiVersion: 'diagnosis.kubediag.org/v1', kind: 'Diagnosis' },
    metadata: { name: 'all', namespace: 'broken', uid: 'broken', generation: 1 },
    spec: { operationSet: 'set', ...SPEC },
  });
  let refusals = 0;
  controller.api.onRequest = ({ method, path }) => {
    if (method !== 'POST' || path !== elsewhere) return;
    refusals += 1;
    throw new StoreError('ServiceUnavailable', 'failed calling webhook', 300_000);
  };
  await begun(controller);
  await expect.poll(() => refusals, POLL).toBeGreaterThan(0);
  controller.diagnosis('all', SPEC);
  await expect
    .poll(() => controller.stored('all')?.status, { ...POLL, timeout: 5_000 })
    .toMatchObject({ nodes: { created: 3, waiting: 3 } });
  expect(refusals).toBeLessThanOrEqual(NODES.length);
});

test('a Diagnosis that the server refuses fails its node with the reason', async () => {
  const controller = controllerOf();
  controller.diagnosis('all', SPEC);
  controller.api.onRequest = ({ method, body }) => {
    if (method === 'POST' && JSON.stringify(body).includes('"nodeName":"b"')) {
      throw new StoreError('Forbidden', 'exceeded quota: count/diagnoses=2');
    }
  };
  await begun(controller);
  await created(controller, ['a', 'c']);
  end(controller, 'a');
  end(controller, 'c');
  await expect
    .poll(() => controller.stored('all')?.status, POLL)
    .toMatchObject({
      phase: 'Failed',
      failedNodes: [{ name: 'b', message: expect.stringContaining('exceeded quota') }],
    });
});

test('an API server that has just started, and has not read its roles yet, is asked again', async () => {
  const controller = controllerOf();
  controller.diagnosis('all', SPEC);
  let refusals = 3;
  controller.api.onRequest = ({ method, path }) => {
    if (method !== 'POST' || path !== AT || refusals === 0) return;
    refusals -= 1;
    const what = 'diagnoses.diagnosis.kubediag.org is forbidden';
    throw new StoreError('Forbidden', `${what}: User "b" cannot create resource "diagnoses"`);
  };
  await begun(controller);
  await expect
    .poll(() => controller.stored('all')?.status, POLL)
    .toMatchObject({ nodes: { created: 3, waiting: 3, failed: 0 } });
});

test('a new leader knows which Diagnoses were deleted, and creates the others', async () => {
  const controller = controllerOf();
  const status = {
    phase: 'Running',
    startTime: '2026-01-02T03:04:05Z',
    nodeNames: NODES,
    nodes: { total: 3, waiting: 3, running: 0, succeeded: 0, failed: 0, created: 2 },
  };
  controller.diagnosis('all', SPEC, status);
  await begun(controller);
  await created(controller, ['c']);
  end(controller, 'c');
  await expect
    .poll(() => controller.stored('all')?.status, POLL)
    .toMatchObject({
      phase: 'Failed',
      nodes: { succeeded: 1, failed: 2 },
      failedNodes: [
        { name: 'a', message: expect.stringContaining('was deleted') },
        { name: 'b', message: expect.stringContaining('was deleted') },
      ],
    });
  expect(creations(controller)).toBe(1);
});

test('a selector that only the API server refuses ends the Diagnosis with its words', async () => {
  const controller = controllerOf();
  controller.api.onRequest = ({ path }) => {
    if (path === '/api/v1/pods') throw new StoreError('BadRequest', 'unable to parse requirement');
  };
  controller.diagnosis('all', { targetSelector: { podSelector: { matchLabels: { app: 'web' } } } });
  await begun(controller);
  const message = expect.stringContaining('podSelector: unable to parse requirement');
  await expect
    .poll(() => controller.stored('all')?.status, POLL)
    .toMatchObject({ phase: 'Failed', conditions: [{ reason: 'NoNodeSelected', message }] });
});

test('a spec that is too large for the number of its copies creates none', async () => {
  const controller = controllerOf();
  for (let at = 0; at < 100; at += 1) controller.node(`n-${at}`);
  const parameters = { list: 'x'.repeat(700_000) };
  controller.diagnosis('all', { targetSelector: { nodeSelector: {} }, parameters });
  await begun(controller);
  const message = expect.stringMatching(/103 nodes, .* spec of 700\d{3} bytes; .* spec.parameters/);
  await expect
    .poll(() => controller.stored('all')?.status, POLL)
    .toMatchObject({ phase: 'Failed', conditions: [{ reason: 'TooManyNodes', message }] });
  expect(creations(controller)).toBe(0);
});

test('a parent that others change all the time is not read again at once each time', async () => {
  const controller = controllerOf();
  controller.diagnosis('all', SPEC);
  let writes = 0;
  controller.api.onRequest = ({ method, path }) => {
    if (method !== 'PUT' || !path.endsWith('/all/status')) return;
    writes += 1;
    throw new StoreError('Conflict', 'another writer was faster');
  };
  await begun(controller);
  await expect.poll(() => writes, POLL).toBeGreaterThan(0);
  await sleep(500);
  expect(writes).toBeLessThanOrEqual(3);
});

test('passes cancel on, also after its own end', async () => {
  const controller = controllerOf();
  controller.diagnosis('all', { ...SPEC, deadlineSeconds: 2 });
  await begun(controller);
  await expect.poll(() => controller.stored('all')?.status?.phase, POLL).toBe('Failed');
  const cancelled = () => NODES.map((node) => controller.stored(child(node))?.spec.cancel);
  await expect.poll(cancelled, POLL).toEqual([true, true, true]);
  expect(controller.stored('all')?.status).toMatchObject({ result: 'Error', progress: '0/3' });
});

test('a child that cannot be changed holds back no other one, and not the status', async () => {
  const controller = controllerOf();
  controller.diagnosis('all', SPEC);
  await begun(controller);
  await expect.poll(() => controller.stored(child('c')), POLL).toBeDefined();
  let refusals = 0;
  controller.api.onRequest = ({ method, path }) => {
    if (method !== 'PATCH' || !path.endsWith(child('a'))) return;
    refusals += 1;
    throw new StoreError('Forbidden', 'no changes on Fridays');
  };
  controller.change('all', { spec: { cancel: true } });
  await expect.poll(() => controller.stored(child('c'))?.spec.cancel, POLL).toBe(true);
  end(controller, 'b');
  end(controller, 'c');
  await expect
    .poll(() => controller.stored('all')?.status, POLL)
    .toMatchObject({ nodes: { succeeded: 2 } });
  expect(refusals).toBe(1);
  expect(controller.messages.join()).toContain('no changes on Fridays');
});

test('a deadline that is extended at the last moment ends nothing', async () => {
  const controller = controllerOf();
  controller.diagnosis('all', { ...SPEC, deadlineSeconds: 2 });
  let isFirst = true;
  controller.api.onRequest = ({ method, path, body }) => {
    if (method !== 'PUT' || !path.endsWith('/all/status') || !isFirst) return;
    if (textAt(body, 'status', 'phase') !== 'Failed') return;
    isFirst = false;
    controller.change('all', { spec: { deadlineSeconds: 600 } });
  };
  await begun(controller);
  const deadlines = () => NODES.map((node) => controller.stored(child(node))?.spec.deadlineSeconds);
  await expect.poll(() => deadlines().every((each) => Number(each) > 500), POLL).toBe(true);
  expect(NODES.map((node) => controller.stored(child(node))?.spec.cancel)).toEqual(
    NODES.map(() => undefined),
  );
  expect(controller.stored('all')?.status).toMatchObject({ phase: 'Running' });
});

test('a child that has just ended is not changed', async () => {
  const controller = controllerOf();
  controller.diagnosis('all', SPEC);
  await begun(controller);
  await created(controller);
  controller.api.onRequest = ({ method, path }) => {
    const isOpen = controller.stored(child('a'))?.status === undefined;
    if (method === 'PATCH' && path.endsWith(child('a')) && isOpen) end(controller, 'a');
  };
  controller.change('all', { spec: { cancel: true } });
  await expect.poll(() => controller.stored(child('c'))?.spec.cancel, POLL).toBe(true);
  await expect
    .poll(() => controller.stored('all')?.status, POLL)
    .toMatchObject({ nodes: { succeeded: 1 } });
  expect(controller.stored(child('a'))?.spec).not.toHaveProperty('cancel');
});

const POLICY = '/apis/diagnosis.kubediag.org/v1/recoverypolicies/default';

function policySince(controller: SyntheticController, rightsEnforcedSince: string, spec = {}) {
  const status = { ...observedPolicy(1, 1), rightsEnforcedSince };
  controller.api.put(POLICY, { ...recoveryPolicy(spec), status });
}

test.each([
  ['', {}],
  [', also while the spec of the policy is malformed', { maxConcurrentNodes: 'many' }],
])(
  'no Diagnosis is created for one that is older than the check of its author%s',
  async (_, spec) => {
    const controller = controllerOf();
    // It was created at 2026-01-02T03:04:05Z.
    policySince(controller, '2026-01-02T03:04:06Z', spec);
    controller.diagnosis('all', SPEC);
    await begun(controller);
    const status = () => controller.stored('all')?.status;
    await expect.poll(status, POLL).toMatchObject({ phase: 'Failed', result: 'Refused' });
    const message = expect.stringMatching(/created before 2026-01-02T03:04:06Z.*create it again/);
    expect(status()?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Failed', reason: 'AuthorNotChecked', message }),
    );
    expect(creations(controller)).toBe(0);
  },
);

test.each([
  ['the check is older', '2026-01-02T03:04:05Z', {}, {}],
  ['it repairs nothing', '2026-01-03T00:00:00Z', {}, { recovery: 'Never' }],
  ['it is a dry run', '2026-01-03T00:00:00Z', {}, { dryRun: true }],
  ['nobody is to be checked', '2026-01-03T00:00:00Z', { withoutAdmissionPolicies: 'Allow' }, {}],
])('Diagnoses are created if %s', async (_, since, policy, spec) => {
  const controller = controllerOf();
  policySince(controller, since, policy);
  controller.diagnosis('all', { ...SPEC, ...spec });
  await begun(controller);
  await expect.poll(() => creations(controller), POLL).toBe(3);
});
