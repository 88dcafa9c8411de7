import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { numberAt, textAt } from '../../src/lib/std/json.ts';
import { CONTROLLER_LEASE, NAMESPACE } from '../../src/pipeline/api/cluster-names.ts';
import { API_VERSION } from '../../src/pipeline/api/kind-names.ts';
import { kubeStore } from '../../src/pipeline/kube/kube-store.ts';
import { LEAD_RETRY_MS } from '../../src/pipeline/kube/limits.ts';
import { objectAt } from '../../src/pipeline/kube/objects.ts';
import { type ApiServer, startApiServer } from '../rig/api-server.ts';
import { createNamespace } from '../rig/controller-here.ts';
import { type ControllerProcess, controllerProcess } from '../rig/controller-process.ts';

const LEASE = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases/${CONTROLLER_LEASE}`;
const LEADS = 'became leader';
const LEADS_NO_MORE = 'stopped leading';
const WAIT = { timeout: 60_000, interval: 200 };
const HOUR_MS = 3_600_000;

let api: ApiServer;

beforeAll(async () => {
  api = await startApiServer();
  await createNamespace(api);
});

afterAll(() => api.stop());

async function started(): Promise<ControllerProcess> {
  const controller = await controllerProcess(api);
  onTestFinished(() => controller.end('SIGKILL'));
  return controller;
}

async function lease(): Promise<{ readonly transitions?: number; readonly renewedAgoMs: number }> {
  const object = await objectAt(api.client, LEASE);
  const renewed = Date.parse(textAt(object, 'spec', 'renewTime') ?? '');
  const transitions = numberAt(object, 'spec', 'leaseTransitions');
  return {
    renewedAgoMs: Date.now() - renewed,
    ...(transitions === undefined ? {} : { transitions }),
  };
}

/** A controller works on what is created now. */
async function expectWork(name: string): Promise<void> {
  const store = kubeStore(api.client);
  const spec = { processor: { scriptRunner: { script: 'true' }, timeoutSeconds: 30 } };
  const list = [{ to: [1] }, { operation: name }];
  const metadata = { name };
  await store.create({ apiVersion: API_VERSION, kind: 'Operation', metadata, spec });
  await store.create({
    ...{ apiVersion: API_VERSION, kind: 'OperationSet', metadata },
    spec: { adjacencyList: list },
  });
  const ready = async () => (await store.get({ kind: 'OperationSet', name }))?.status?.ready;
  await expect.poll(ready, WAIT).toBe(true);
}

test('the leader leads on while clocks jump, and is replaced when it dies', async () => {
  const leader = await started();
  await expect.poll(leader.said, WAIT).toContain(LEADS);
  const other = await started();
  for (const [offset, opposite] of [
    ['+1h', '-1h'],
    ['-1h', '+1h'],
  ] as const) {
    await Promise.all([leader.setClock(offset), other.setClock(opposite)]);
    // Renewed by a clock that is an hour off: in the future first, then in the past.
    const offMs = Number.parseInt(offset, 10) * HOUR_MS;
    const error = async () => Math.abs((await lease()).renewedAgoMs + offMs);
    await expect.poll(error, WAIT).toBeLessThan(HOUR_MS / 10);
    // The other one tries several times.
    await sleep(3 * LEAD_RETRY_MS);
    await expectWork(offset === '+1h' ? 'ahead' : 'behind');
  }
  expect(leader.said()).not.toContain(LEADS_NO_MORE);
  expect(other.said()).not.toContain(LEADS);
  expect((await lease()).transitions).toBe(0);
  await leader.end('SIGKILL');
  await expect.poll(other.said, WAIT).toContain(LEADS);
  expect((await lease()).transitions).toBe(1);
  await expectWork('next-leader');
});
