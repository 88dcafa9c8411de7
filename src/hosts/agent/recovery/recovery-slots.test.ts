import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { observedPolicy, recoveryPolicy, slotLeases } from '../../../../test/recovery-objects.ts';
import { SyntheticApiServer } from '../../../../test/synthetic-api-server.ts';
import { fleetNode, repairStep } from '../../../../test/synthetic-fleet.ts';
import { fieldAt, textAt } from '../../../lib/std/json.ts';
import type { RecoveryPolicySpec } from '../../../pipeline/api/recovery-policy.ts';
import type { OperationResult } from '../../../pipeline/steps/operation-result.ts';
import type { RunStep, StepToRun } from '../../../pipeline/steps/step-to-run.ts';

const POLICY = '/apis/diagnosis.kubediag.org/v1/recoverypolicies/default';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kubediag/leases';
const DONE: OperationResult = { succeeded: true, results: {} };
const NO_EFFECT: OperationResult = {
  succeeded: false,
  message: 'no effect',
  record: { actions: [{ kind: 'unmount', state: 'no-effect' }] },
};

function apiServer(slots: number, spec: RecoveryPolicySpec = {}): SyntheticApiServer {
  const api = new SyntheticApiServer();
  permit(api, slots, spec);
  for (const lease of slotLeases(slots)) api.put(`${LEASES}/${lease.metadata.name}`, lease);
  return api;
}

function permit(api: SyntheticApiServer, slots: number, spec: RecoveryPolicySpec): void {
  const policy = recoveryPolicy({ maxConcurrentNodes: 100, ...spec });
  const metadata = { ...policy.metadata, generation: 1 };
  api.put(POLICY, { ...policy, metadata, status: observedPolicy(slots, 1) });
}

function holders(api: SyntheticApiServer): readonly (string | undefined)[] {
  return [...api.objects]
    .filter(([path]) => path.startsWith(LEASES))
    .map(([, lease]) => textAt(lease, 'spec', 'holderIdentity'));
}

function failures(api: SyntheticApiServer, slot = 0): unknown {
  const lease = api.objects.get(`${LEASES}/kubediag-recovery-${slot}`);
  return JSON.parse(
    textAt(fieldAt(lease, 'metadata', 'annotations'), 'diagnosis.kubediag.org/failures') ?? '[]',
  );
}

/** A step that runs until it is released. */
function gate() {
  const [begun, open] = [Promise.withResolvers<void>(), Promise.withResolvers<OperationResult>()];
  const run: RunStep = () => {
    begun.resolve();
    return open.promise;
  };
  return { run, begun: begun.promise, end: open.resolve };
}

test('a node holds a slot while its step repairs, and not longer', async () => {
  const api = apiServer(2);
  let during: readonly unknown[] = [];
  const run = async () => {
    during = holders(api);
    return DONE;
  };
  expect(await fleetNode(api, 'web-1', { run }).step(repairStep('web-1'))).toEqual(DONE);
  expect(during.filter((each) => each === 'web-1')).toHaveLength(1);
  expect(holders(api)).toEqual(['', '']);
});

test('another node waits while all slots are held, and says for what', async () => {
  const api = apiServer(1);
  const { run, begun, end } = gate();
  const repairing = fleetNode(api, 'web-1', { run }).step(repairStep('web-1'));
  await begun;
  const other = fleetNode(api, 'web-2', { run: async () => DONE });
  const outcome = await other.step(repairStep('web-2'));
  expect(outcome).toEqual({
    notNow: { reason: 'NoRecoverySlot', name: '1 node is in recovery' },
    againMs: expect.any(Number),
  });
  const { againMs } = outcome as { readonly againMs: number };
  expect(againMs).toBeGreaterThan(4_900);
  expect(againMs).toBeLessThan(6_100);
  end(DONE);
  await repairing;
});

test('waiting steps of a node share one request', async () => {
  const api = apiServer(0);
  const node = fleetNode(api, 'web-2', { run: async () => DONE });
  let requests = 0;
  api.onRequest = () => {
    requests += 1;
  };
  await Promise.all(['a', 'b', 'c'].map((name) => node.step(repairStep('web-2', {}, { name }))));
  // Three policies at the same time, and one list.
  expect(requests).toBeLessThanOrEqual(4);
  requests = 0;
  expect(await node.step(repairStep('web-2', {}, { name: 'd' }))).toHaveProperty('notNow');
  expect(requests).toBe(0);
});

test('steps of one node share its slot until the last has ended', async () => {
  const api = apiServer(2);
  const gates = [gate(), gate()];
  let next = 0;
  const run = (step: StepToRun) => {
    const mine = gates[next];
    next += 1;
    return mine?.run(step) ?? Promise.resolve(DONE);
  };
  const node = fleetNode(api, 'web-1', { run });
  const first = node.step(repairStep('web-1', {}, { name: 'a' }));
  await gates[0]?.begun;
  const second = node.step(repairStep('web-1', {}, { name: 'b' }));
  await gates[1]?.begun;
  expect(holders(api).filter((each) => each === 'web-1')).toHaveLength(1);
  gates[0]?.end(NO_EFFECT);
  await first;
  // The failure is known although the slot is still held.
  expect(holders(api).filter((each) => each === 'web-1')).toHaveLength(1);
  const all = [failures(api, 0), failures(api, 1)].flat();
  expect(all).toMatchObject([{ nodeName: 'web-1', diagnosis: 'default/a' }]);
  gates[1]?.end(DONE);
  await second;
  expect(holders(api)).toEqual(['', '']);
});

test('stops after failures, which are in the Lease', async () => {
  const api = apiServer(1, { stopAfterFailures: 2 });
  const node = fleetNode(api, 'web-1', { run: async () => NO_EFFECT });
  for (const name of ['a', 'b']) {
    expect(await node.step(repairStep('web-1', {}, { name }))).toEqual(NO_EFFECT);
  }
  expect(failures(api)).toMatchObject([{ diagnosis: 'default/a' }, { diagnosis: 'default/b' }]);
  const other = fleetNode(api, 'web-2', { run: async () => DONE });
  expect(await other.step(repairStep('web-2'))).toMatchObject({
    notNow: { reason: 'RecoveryStopped', name: expect.stringContaining('2 failed recoveries') },
  });
  permit(api, 1, {
    stopAfterFailures: 2,
    failuresResetTime: new Date(Date.now() + 1_000).toISOString(),
  });
  const third = fleetNode(api, 'web-3', { run: async () => DONE });
  expect(await third.step(repairStep('web-3'))).toEqual(DONE);
});

test('a slot with a number that the policy no longer permits is not taken', async () => {
  const api = apiServer(3);
  permit(api, 1, {});
  const { run, begun, end } = gate();
  const repairing = fleetNode(api, 'web-1', { run }).step(repairStep('web-1'));
  await begun;
  expect(holders(api)).toEqual(['web-1', '', '']);
  const other = fleetNode(api, 'web-2', { run: async () => DONE });
  expect(await other.step(repairStep('web-2'))).toMatchObject({
    notNow: { reason: 'NoRecoverySlot' },
  });
  end(DONE);
  await repairing;
});

test('a failed renewal ends nothing, and a slot that another node holds ends the step', async () => {
  const api = apiServer(1);
  const stopped = Promise.withResolvers<void>();
  const run: RunStep = async ({ stop }) => {
    stop.addEventListener('abort', () => stopped.resolve());
    await stopped.promise;
    return DONE;
  };
  const node = fleetNode(api, 'web-1', { run, slots: { renewMs: 10 } });
  const repairing = node.step(repairStep('web-1'));
  await expect.poll(() => holders(api)).toEqual(['web-1']);
  api.isDown = true;
  await expect.poll(() => node.messages.length).toBeGreaterThan(0);
  api.isDown = false;
  expect(await Promise.race([repairing, sleep(100)])).toBeUndefined();
  const [path = '', lease] = [...api.objects].find(([at]) => at.startsWith(LEASES)) ?? [];
  api.put(path, { ...lease, spec: { holderIdentity: 'web-9' } });
  expect(await repairing).toEqual(DONE);
  // It is not ours any more.
  expect(holders(api)).toEqual(['web-9']);
});

test('a release that fails is done later', async () => {
  const api = apiServer(1);
  const run = async () => {
    api.isDown = true;
    return NO_EFFECT;
  };
  const node = fleetNode(api, 'web-1', { run, slots: { unusedMs: 10 } });
  expect(await node.step(repairStep('web-1'))).toEqual(NO_EFFECT);
  expect(holders(api)).toEqual(['web-1']);
  api.isDown = false;
  await expect.poll(() => holders(api)).toEqual(['']);
  expect(failures(api)).toMatchObject([{ nodeName: 'web-1' }]);
});

test('at its start an agent releases the slot of its node, once the journal is settled', async () => {
  const api = apiServer(2);
  const path = `${LEASES}/kubediag-recovery-1`;
  api.put(path, { ...api.objects.get(path), spec: { holderIdentity: 'web-1' } });
  let isSettled = false;
  const settle = async () =>
    isSettled
      ? { isSettled: true as const }
      : { isSettled: false as const, why: 'somebody repairs' };
  const node = fleetNode(api, 'web-1', { run: async () => DONE, settle, slots: { unusedMs: 10 } });
  await expect
    .poll(() => node.messages)
    .toContain(
      'Lease kubediag-recovery-1 is not released: the journal is not settled: somebody repairs',
    );
  expect(holders(api)).toEqual(['', 'web-1']);
  isSettled = true;
  await expect.poll(() => holders(api)).toEqual(['', '']);
});

test('a step that was interrupted goes on with the slot of its node, also while the policy is paused', async () => {
  const api = apiServer(1, { paused: true });
  const path = `${LEASES}/kubediag-recovery-0`;
  api.put(path, { ...api.objects.get(path), spec: { holderIdentity: 'web-1' } });
  const fresh = fleetNode(api, 'web-1', { run: async () => DONE });
  expect(await fresh.step(repairStep('web-1'))).toMatchObject({
    notNow: { reason: 'RecoveryPaused' },
  });
  await fresh.kill();
  const interrupted = fleetNode(api, 'web-1', { run: async () => DONE, hasBegun: true });
  expect(await interrupted.step(repairStep('web-1'))).toEqual(DONE);
  expect(holders(api)).toEqual(['']);
});
