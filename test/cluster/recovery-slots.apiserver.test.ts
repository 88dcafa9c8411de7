import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { listAt, numberAt, textAt } from '../../src/lib/std/json.ts';
import type { RecoveryPolicySpec } from '../../src/pipeline/api/recovery-policy.ts';
import { type KubeClient, openKubeClient } from '../../src/pipeline/kube/kube-client.ts';
import { Lease } from '../../src/pipeline/kube/lease.ts';
import { objectAt } from '../../src/pipeline/kube/objects.ts';
import type { OperationResult } from '../../src/pipeline/steps/operation-result.ts';
import type { RunStep } from '../../src/pipeline/steps/step-to-run.ts';
import { answerOf } from '../../src/pipeline/store/store-answer.ts';
import { observedPolicy, recoveryPolicy, slotLeases } from '../recovery-objects.ts';
import { type ApiProxy, startApiProxy } from '../rig/api-proxy.ts';
import { type ApiServer, startApiServer } from '../rig/api-server.ts';
import { fleetNode, repairStep } from '../synthetic-fleet.ts';

const POLICIES = '/apis/diagnosis.kubediag.org/v1/recoverypolicies';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kubediag/leases';
const DONE: OperationResult = { succeeded: true, results: {} };
const SLOTS = 3;

let api: ApiServer;
let proxy: ApiProxy;
let overProxy: KubeClient;

beforeAll(async () => {
  api = await startApiServer();
  proxy = await startApiProxy(api);
  overProxy = openKubeClient(proxy.access);
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kubediag' } };
  await api.client.request({ method: 'POST', path: '/api/v1/namespaces', body });
});

afterAll(async () => {
  overProxy?.close();
  await proxy?.stop();
  await api?.stop();
});

beforeEach(async () => {
  proxy.decide = () => 'pass';
  for (const path of [`${POLICIES}/default`, ...(await slots()).map(pathOf)]) {
    await answerOf(api.client.request({ method: 'DELETE', path }));
  }
  for (const body of slotLeases(SLOTS))
    await api.client.request({ method: 'POST', path: LEASES, body });
  await setPolicy({});
});

/** As its controller has observed it. */
async function setPolicy(spec: RecoveryPolicySpec, count = SLOTS): Promise<void> {
  const path = `${POLICIES}/default`;
  const before = await objectAt(api.client, path);
  const wanted = recoveryPolicy({ maxConcurrentNodes: SLOTS, ...spec });
  const written = before
    ? await api.client.request({
        ...{ method: 'PUT', path },
        body: { ...wanted, metadata: (before as { readonly metadata: object }).metadata },
      })
    : await api.client.request({ method: 'POST', path: POLICIES, body: wanted });
  const status = observedPolicy(count, numberAt(written, 'metadata', 'generation') ?? 0);
  const body = { ...(written as object), status };
  await api.client.request({ method: 'PUT', path: `${path}/status`, body });
}

async function slots(): Promise<readonly unknown[]> {
  return listAt(await api.client.request({ method: 'GET', path: LEASES }), 'items') ?? [];
}

function pathOf(lease: unknown): string {
  return `${LEASES}/${textAt(lease, 'metadata', 'name')}`;
}

async function holders(): Promise<readonly string[]> {
  return (await slots()).map((each) => textAt(each, 'spec', 'holderIdentity') ?? '').toSorted();
}

/** Asks until its step has run. */
async function untilRun(
  node: ReturnType<typeof fleetNode>,
  nodeName: string,
  isKilled: () => boolean,
) {
  while (!isKilled()) {
    const outcome = await node.step(repairStep(nodeName));
    if (!('notNow' in outcome)) return;
    await sleep(5 + Math.random() * 20);
  }
}

test('50 agents never hold more slots than there are, although some of them die in between', async () => {
  const running = new Set<string>();
  const ran = new Set<string>();
  const dead = new Set<string>();
  let most = 0;
  const agents = Array.from({ length: 50 }, async (_, index) => {
    const nodeName = `web-${index}`;
    // Three die while they repair, each with its slot; their nodes start again.
    const dies = index < 3;
    let killed = false;
    const isOver = Promise.withResolvers<OperationResult>();
    const run: RunStep = async () => {
      running.add(nodeName);
      most = Math.max(most, running.size);
      if (dies && !dead.has(nodeName)) {
        dead.add(nodeName);
        killed = true;
        return isOver.promise;
      }
      await sleep(Math.random() * 20);
      running.delete(nodeName);
      ran.add(nodeName);
      return DONE;
    };
    const node = fleetNode(api.client, nodeName, { run, asksAtOnce: true });
    const work = untilRun(node, nodeName, () => killed);
    await (dies ? Promise.race([work, untilTrue(() => killed)]) : work);
    if (!dies) return;
    await node.kill();
    await sleep(200);
    // The step that was interrupted runs again in the next agent.
    running.delete(nodeName);
    await untilRun(
      fleetNode(api.client, nodeName, { run, asksAtOnce: true }),
      nodeName,
      () => false,
    );
  });
  await Promise.all(agents);
  expect(ran.size).toBe(50);
  expect(dead.size).toBe(3);
  expect(most).toBe(SLOTS);
  expect(await holders()).toEqual(['', '', '']);
});

async function untilTrue(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(5);
}

test('the slot of a dead node stays, and is released when its agent is there again', async () => {
  let isDead = false;
  const died = fleetNode(api.client, 'web-1', {
    run: () => {
      isDead = true;
      return new Promise(() => {});
    },
  });
  void died.step(repairStep('web-1'));
  await untilTrue(() => isDead);
  await died.kill();
  const [held] = (await slots()).filter(
    (each) => textAt(each, 'spec', 'holderIdentity') === 'web-1',
  );
  // Its times are long ago.
  const spec = {
    holderIdentity: 'web-1',
    leaseDurationSeconds: 1,
    renewTime: '2020-01-01T00:00:00.000000Z',
  };
  const body = { ...(held as object), spec };
  await api.client.request({ method: 'PUT', path: pathOf(held), body });
  await setPolicy({ maxConcurrentNodes: 1 }, 1);
  for (const lease of await slots()) {
    if (pathOf(lease) !== pathOf(held))
      await api.client.request({ method: 'DELETE', path: pathOf(lease) });
  }
  await sleep(1_200);
  const other = fleetNode(api.client, 'web-2', { run: async () => DONE });
  expect(await other.step(repairStep('web-2'))).toHaveProperty('notNow');
  expect(await holders()).toEqual(['web-1']);
  fleetNode(api.client, 'web-1', { run: async () => DONE, slots: { unusedMs: 20 } });
  await expect.poll(holders).toEqual(['']);
});

test('two agents that have read the same free Lease do not both get it', async () => {
  const [seen] = await slots();
  const name = textAt(seen, 'metadata', 'name') ?? '';
  const holds = Array.from({ length: 10 }, (_, index) => {
    const slot = { seen, annotations: () => undefined };
    const options = { namespace: 'kubediag', name, holder: `web-${index}`, durationSeconds: 1 };
    return new Lease(api.client, { ...options, slot }).hold();
  });
  expect((await Promise.all(holds)).filter((isHeld) => isHeld)).toHaveLength(1);
});

test('a node whose answers are lost holds one slot at most, and releases it', async () => {
  let writes = 0;
  // Every second write has an effect and no answer.
  proxy.decide = (method) => {
    if (method !== 'PUT') return 'pass';
    writes += 1;
    return writes % 2 === 1 ? 'lose-answer' : 'pass';
  };
  let most = 0;
  const run: RunStep = async () => {
    const mine = (await holders()).filter((each) => each === 'web-1');
    most = Math.max(most, mine.length);
    return DONE;
  };
  const node = fleetNode(overProxy, 'web-1', { run, asksAtOnce: true, slots: { unusedMs: 20 } });
  for (let round = 0; round < 10; round += 1) await untilRun(node, 'web-1', () => false);
  expect(writes).toBeGreaterThan(20);
  expect(most).toBe(1);
  await expect.poll(holders).toEqual(['', '', '']);
});

test('a failure whose answer is lost counts once', async () => {
  let puts = 0;
  proxy.decide = (method) => {
    if (method === 'PUT') puts += 1;
    // The first takes the slot, the second releases it.
    return method === 'PUT' && puts === 2 ? 'lose-answer' : 'pass';
  };
  const failed: OperationResult = {
    succeeded: false,
    message: 'no effect',
    record: { actions: [{ kind: 'unmount', state: 'no-effect' }] },
  };
  const node = fleetNode(overProxy, 'web-1', {
    run: async () => failed,
    asksAtOnce: true,
    slots: { unusedMs: 20 },
  });
  await untilRun(node, 'web-1', () => false);
  await untilRun(node, 'web-1', () => false);
  expect(await holders()).toEqual(['', '', '']);
  await setPolicy({ stopAfterFailures: 2 });
  const other = fleetNode(api.client, 'web-2', { run: async () => DONE });
  expect(await other.step(repairStep('web-2'))).toEqual(DONE);
});

test('a changed policy takes effect at the next question', async () => {
  const node = fleetNode(api.client, 'web-1', { run: async () => DONE, asksAtOnce: true });
  const reasonNow = async () => {
    const outcome = await node.step(repairStep('web-1'));
    return 'notNow' in outcome ? outcome.notNow.reason : 'runs';
  };
  expect(await reasonNow()).toBe('runs');
  await setPolicy({ paused: true });
  expect(await reasonNow()).toBe('RecoveryPaused');
  await setPolicy({ maintenanceWindows: [{ schedule: '0 0 30 2 *', durationSeconds: 60 }] });
  expect(await reasonNow()).toBe('OutsideMaintenanceWindow');
  await setPolicy({ maintenanceWindows: [{ schedule: '* * * * *', durationSeconds: 120 }] });
  expect(await reasonNow()).toBe('runs');
  await api.client.request({ method: 'DELETE', path: `${POLICIES}/default` });
  expect(await reasonNow()).toBe('RecoveryPolicyMissing');
});
