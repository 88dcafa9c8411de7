import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { SyntheticController } from '../../../../test/synthetic-controller.ts';
import { targets } from './targets.ts';

const started: SyntheticController[] = [];
afterEach(() => {
  for (const each of started.splice(0)) each.stop();
});

const POD = '/api/v1/namespaces/default/pods/web';
const SPEC = { podReference: { namespace: 'default', name: 'web' } };
const POLL = { timeout: 10_000, interval: 20 };

async function controllerWith(spec: object, arrivalMs = 60_000, pod?: object) {
  const controller = new SyntheticController({ arrivalMs });
  started.push(controller);
  if (pod) controller.api.put(POD, { metadata: { name: 'web' }, ...pod });
  controller.diagnosis('d', spec);
  await controller.start();
  void targets(controller.context);
  return controller;
}

const pending = (message: string) => ({
  phase: 'Pending',
  conditions: [{ type: 'TargetPending', status: 'True', reason: 'PodPending', message }],
});

test('the node of a pod that is scheduled is set with one write', async () => {
  const controller = await controllerWith(SPEC, 0, { spec: { nodeName: 'web-1' } });
  await expect.poll(() => controller.stored('d')?.spec.nodeName, POLL).toBe('web-1');
  expect(controller.stored('d')?.status).toBeUndefined();
  expect(controller.api.writes).toHaveLength(1);
});

test('waits for a pod that does not exist, and then for its node', async () => {
  const controller = await controllerWith(SPEC);
  const status = () => controller.stored('d')?.status;
  await expect
    .poll(status, POLL)
    .toMatchObject(pending('Waiting for the node of the pod: pod default/web: not found'));
  expect(status()).toHaveProperty('startTime');
  const why = { type: 'PodScheduled', message: '0/3 nodes are available' };
  controller.api.put(POD, { metadata: { name: 'web' }, spec: {}, status: { conditions: [why] } });
  await expect
    .poll(status, POLL)
    .toMatchObject(
      pending(
        'Waiting for the node of the pod: pod default/web: not scheduled yet: 0/3 nodes are available',
      ),
    );
  controller.api.put(POD, { metadata: { name: 'web' }, spec: { nodeName: 'web-2' } });
  await expect.poll(() => controller.stored('d')?.spec.nodeName, POLL).toBe('web-2');
  expect(status()).toMatchObject({
    phase: 'Pending',
    conditions: [{ type: 'TargetPending', status: 'False', reason: 'TargetFound' }],
  });
});

test('a pod that does not arrive ends the Diagnosis', async () => {
  const controller = await controllerWith(SPEC, 100);
  await expect
    .poll(() => controller.stored('d')?.status, POLL)
    .toMatchObject({
      phase: 'Failed',
      result: 'Error',
      conditions: [
        { type: 'TargetPending' },
        { type: 'Failed', reason: 'PodNotFound', message: 'Pod not found: default/web' },
      ],
    });
});

test('a suspended one waits, and a cancel and a deadline end it', async () => {
  const pod = { spec: { nodeName: 'web-1' } };
  const controller = await controllerWith({ ...SPEC, suspend: true }, 0, pod);
  const status = () => controller.stored('d')?.status;
  await expect.poll(status, POLL).toMatchObject({ phase: 'Pending' });
  expect(controller.stored('d')?.spec.nodeName).toBeUndefined();
  controller.change('d', { spec: { cancel: true } });
  await expect.poll(status, POLL).toMatchObject({ phase: 'Failed', result: 'Cancelled' });

  const late = await controllerWith({ ...SPEC, deadlineSeconds: 1 });
  await expect
    .poll(() => late.stored('d')?.status, POLL)
    .toMatchObject({ phase: 'Failed', conditions: [{}, { reason: 'DeadlineExceeded' }] });
});

test.each([
  ['has a node', { ...SPEC, nodeName: 'web-3' }],
  ['has a targetSelector only', { targetSelector: {} }],
])('one that %s is left to others', async (_, spec) => {
  const controller = await controllerWith(spec, 0, { spec: { nodeName: 'web-1' } });
  controller.diagnosis('other', SPEC);
  await expect.poll(() => controller.stored('other')?.spec.nodeName, POLL).toBe('web-1');
  expect(controller.stored('d')).toMatchObject({ spec });
  expect(controller.stored('d')?.status).toBeUndefined();
});

test('a pod wins over a targetSelector beside it', async () => {
  const pod = { spec: { nodeName: 'web-1' } };
  const controller = await controllerWith(
    { ...SPEC, targetSelector: { nodeSelector: {} } },
    0,
    pod,
  );
  await expect.poll(() => controller.stored('d')?.spec.nodeName, POLL).toBe('web-1');
});

test('a Diagnosis that another writer changes meanwhile is read again', async () => {
  const controller = await controllerWith({ ...SPEC, suspend: true });
  await expect.poll(() => controller.stored('d')?.status, POLL).toBeDefined();
  controller.api.put(POD, { metadata: { name: 'web' }, spec: { nodeName: 'web-1' } });
  let isFirst = true;
  controller.api.onRequest = ({ method }) => {
    if (method !== 'PATCH' || !isFirst) return;
    isFirst = false;
    controller.change('d', { spec: { suspend: true } });
  };
  controller.change('d', { spec: { suspend: false } });
  await expect.poll(() => isFirst, POLL).toBe(false);
  await sleep(500);
  expect(controller.stored('d')?.spec.nodeName).toBeUndefined();
});
