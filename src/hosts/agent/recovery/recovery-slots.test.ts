import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { observedPolicy, recoveryPolicy, slotLeases } from '../../../../test/recovery-objects.ts';
import { SyntheticApiServer } from '../../../../test/synthetic-api-server.ts';
import {
  fleetNode,
  OTHER_FAULT,
  OTHER_PATH,
  repairStep,
} from '../../../../test/synthetic-fleet.ts';
import { fieldAt, textAt } from '../../../lib/std/json.ts';
import type { RecoveryPolicySpec } from '../../../pipeline/api/recovery-policy.ts';
import type { OperationResult } from '../../../pipeline/steps/operation-result.ts';
import type { RunStep } from '../../../pipeline/steps/step-to-run.ts';
import { StoreError } from '../../../pipeline/store/store-error.ts';

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

function permit(
  api: SyntheticApiServer,
  slots: number,
  spec: RecoveryPolicySpec,
  generation = 1,
): void {
  const policy = recoveryPolicy({ maxConcurrentNodes: 100, ...spec });
  const metadata = { ...policy.metadata, generation };
  api.put(POLICY, { ...policy, metadata, status: observedPolicy(slots, generation) });
}

function holders(api: SyntheticApiServer): readonly (string | undefined)[] {
  return [...api.objects]
    .filter(([path]) => path.startsWith(LEASES))
    .map(([, lease]) => textAt(lease, 'spec', 'holderIdentity'));
}

function hold(api: SyntheticApiServer, slot: number, holderIdentity: string): void {
  const path = `${LEASES}/kubediag-recovery-${slot}`;
  api.put(path, { ...api.objects.get(path), spec: { holderIdentity } });
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
    notNow: {
      reason: 'NoRecoverySlot',
      name: '1 node is in recovery, and RecoveryPolicy default permits no more',
    },
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
  // One policy, and one list.
  expect(requests).toBeLessThanOrEqual(2);
  requests = 0;
  expect(await node.step(repairStep('web-2', {}, { name: 'd' }))).toHaveProperty('notNow');
  expect(requests).toBe(0);
});

test('steps of one node repair one after another', async () => {
  const api = apiServer(2);
  const gates = [gate(), gate()];
  let runs = 0;
  const run: RunStep = (step) => {
    runs += 1;
    return gates[runs - 1]?.run(step) ?? Promise.resolve(DONE);
  };
  const node = fleetNode(api, 'web-1', { run });
  const steps = ['a', 'b'].map((name) => node.step(repairStep('web-1', {}, { name })));
  await gates[0]?.begun;
  await sleep(50);
  expect(runs).toBe(1);
  gates[0]?.end(DONE);
  await gates[1]?.begun;
  expect(holders(api).filter((each) => each === 'web-1')).toHaveLength(1);
  gates[1]?.end(DONE);
  expect(await Promise.all(steps)).toEqual([DONE, DONE]);
  expect(holders(api)).toEqual(['', '']);
});

test('a step says that another one of its node repairs, if that takes long', async () => {
  const api = apiServer(1);
  const { run, begun, end } = gate();
  const node = fleetNode(api, 'web-1', { run, slots: { turnMs: 10 } });
  const first = node.step(repairStep('web-1', {}, { name: 'a' }));
  await begun;
  expect(await node.step(repairStep('web-1', {}, { name: 'b' }))).toEqual({
    notNow: {
      reason: 'NoRecoverySlot',
      name: expect.stringMatching(/^Another Diagnosis is repairing/),
    },
    againMs: expect.any(Number),
  });
  end(DONE);
  await first;
});

test.each([
  ['one of them fails', { stopAfterFailures: 1 }, 'RecoveryStopped'],
  ['a person pauses recovery', {}, 'RecoveryPaused'],
])('of many steps that wait for one another none repairs after %s', async (_, spec, reason) => {
  const api = apiServer(1, spec);
  let runs = 0;
  const run: RunStep = async () => {
    runs += 1;
    if (reason === 'RecoveryPaused') permit(api, 1, { paused: true });
    return NO_EFFECT;
  };
  const node = fleetNode(api, 'web-1', { run });
  const names = ['a', 'b', 'c', 'd', 'e'];
  const [first, ...others] = await Promise.all(
    names.map((name) => node.step(repairStep('web-1', {}, { name }))),
  );
  expect(first).toEqual(NO_EFFECT);
  expect(runs).toBe(1);
  for (const other of others) expect(other).toMatchObject({ notNow: { reason } });
});

test('recovery that is paused while a slot is taken begins no repair', async () => {
  const api = apiServer(1);
  api.onRequest = ({ method }) => {
    if (method === 'PUT') permit(api, 1, { paused: true }, 2);
  };
  const node = fleetNode(api, 'web-1', { run: async () => DONE });
  expect(await node.step(repairStep('web-1'))).toMatchObject({
    notNow: { reason: 'RecoveryPaused' },
  });
  expect(holders(api)).toEqual(['']);
});

test('a repair that the shutdown of its agent interrupts leaves the slot to the next agent', async () => {
  const api = apiServer(1);
  const { run, begun, end } = gate();
  const node = fleetNode(api, 'web-1', { run });
  const repairing = node.step(repairStep('web-1'));
  await begun;
  const stopping = node.kill();
  end({ succeeded: false, message: 'stopped', record: { actions: [] } });
  await Promise.all([repairing, stopping]);
  expect(holders(api)).toEqual(['web-1']);
  const next = fleetNode(api, 'web-1', { run: async () => DONE, hasBegun: true });
  expect(await next.step(repairStep('web-1'))).toEqual(DONE);
  expect(holders(api)).toEqual(['']);
});

test('a failed repair holds the slot until the journal is settled', async () => {
  const api = apiServer(1);
  let isSettled = false;
  const settle = async () =>
    isSettled ? { isSettled: true as const } : { isSettled: false as const, why: 'it acts' };
  const run = async () => NO_EFFECT;
  const node = fleetNode(api, 'web-1', { run, settle, slots: { unusedMs: 10 } });
  await node.step(repairStep('web-1'));
  expect(holders(api)).toEqual(['web-1']);
  expect(failures(api)).toHaveLength(1);
  isSettled = true;
  await expect.poll(() => holders(api)).toEqual(['']);
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
  hold(api, 0, 'web-9');
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
  hold(api, 1, 'web-1');
  let isSettled = false;
  const settle = async () =>
    isSettled
      ? { isSettled: true as const }
      : { isSettled: false as const, why: 'somebody repairs' };
  const node = fleetNode(api, 'web-1', { run: async () => DONE, settle, slots: { unusedMs: 10 } });
  await expect
    .poll(() => node.messages)
    .toContain(
      'Lease kubediag-recovery-1: not released: an action may still be running: somebody repairs',
    );
  expect(holders(api)).toEqual(['', 'web-1']);
  isSettled = true;
  await expect.poll(() => holders(api)).toEqual(['', '']);
});

test('a step that was interrupted goes on with the slot of its node, also while the policy is paused', async () => {
  const api = apiServer(1, { paused: true });
  hold(api, 0, 'web-1');
  const fresh = fleetNode(api, 'web-1', { run: async () => DONE });
  expect(await fresh.step(repairStep('web-1'))).toMatchObject({
    notNow: { reason: 'RecoveryPaused' },
  });
  await fresh.kill();
  const interrupted = fleetNode(api, 'web-1', { run: async () => DONE, hasBegun: true });
  expect(await interrupted.step(repairStep('web-1'))).toEqual(DONE);
  expect(holders(api)).toEqual(['']);
});

test('a step goes on only if the executor says that it has begun: unknown waits', async () => {
  const api = apiServer(1, { paused: true });
  hold(api, 0, 'web-1');
  let hasRun = false;
  const run = async () => {
    hasRun = true;
    return DONE;
  };
  const node = fleetNode(api, 'web-1', { run, hasBegun: 'unknown' });
  expect(await node.step(repairStep('web-1'))).toMatchObject({
    notNow: { reason: 'RecoveryPaused' },
    againMs: expect.any(Number),
  });
  expect(hasRun).toBe(false);
});

test('a slot is not released while the executor may still run the step', async () => {
  const api = apiServer(1);
  let isSettled = false;
  let settles = 0;
  const settle = async () => {
    settles += 1;
    return isSettled
      ? { isSettled: true as const }
      : { isSettled: false as const, why: 'somebody repairs' };
  };
  const outcomes: readonly [OperationResult, boolean][] = [
    [NO_EFFECT, false],
    [DONE, true],
  ];
  const left = outcomes.values();
  const run: RunStep = async ({ onUnanswered }) => {
    const [outcome, isAnswered] = left.next().value ?? [DONE, true];
    if (!isAnswered) onUnanswered?.();
    return outcome;
  };
  const node = fleetNode(api, 'web-1', { run, settle, slots: { unusedMs: 10 } });
  expect(await node.step(repairStep('web-1'))).toEqual(NO_EFFECT);
  expect(holders(api)).toEqual(['web-1']);
  // Other nodes know of it meanwhile.
  expect(failures(api)).toMatchObject([{ nodeName: 'web-1' }]);
  // Another step of the node uses the slot, and does not release it either.
  expect(await node.step(repairStep('web-1', {}, { name: 'b' }))).toEqual(DONE);
  const before = settles;
  await expect.poll(() => settles).toBeGreaterThan(before);
  expect(holders(api)).toEqual(['web-1']);
  isSettled = true;
  await expect.poll(() => holders(api)).toEqual(['']);
  // It is released at once again, and nobody is asked for it.
  const asked = settles;
  expect(await node.step(repairStep('web-1', {}, { name: 'c' }))).toEqual(DONE);
  expect(holders(api)).toEqual(['']);
  expect(settles).toBe(asked);
});

test('a step is decided with the policy as it is then, not as it was while others waited', async () => {
  const api = apiServer(1, { paused: true, faults: [{ name: OTHER_FAULT, recovery: 'Never' }] });
  const node = fleetNode(api, 'web-1', { run: async () => DONE });
  const other = repairStep('web-1', {}, { name: 'b', path: OTHER_PATH });
  expect(await node.step(repairStep('web-1'))).toHaveProperty('notNow');
  expect(await node.step(other)).toMatchObject({ reason: 'Refused' });
  permit(api, 1, {});
  expect(await node.step(other)).toEqual(DONE);
});

test('a step whose turn comes after a change of the policy is decided with the new one', async () => {
  const api = apiServer(1);
  const node = fleetNode(api, 'web-1', { run: async () => DONE });
  let isPaused = false;
  api.onRequest = ({ method, path }) => {
    if (method !== 'GET' || path !== LEASES || isPaused) return;
    isPaused = true;
    permit(api, 1, { paused: true });
  };
  const [first, second] = await Promise.all(
    ['a', 'b'].map((name) => node.step(repairStep('web-1', {}, { name }))),
  );
  expect(first).toEqual(DONE);
  expect(second).toMatchObject({ notNow: { reason: 'RecoveryPaused' } });
});

test('a failure of a node whose clock is behind is after the last reset', async () => {
  const api = apiServer(1, { failuresResetTime: '2099-01-01T00:00:00Z' });
  const node = fleetNode(api, 'web-1', { run: async () => NO_EFFECT });
  await node.step(repairStep('web-1'));
  expect(failures(api)).toMatchObject([{ time: '2099-01-01T00:00:01Z' }]);
});

test('a slot that a write without an answer takes late is released', async () => {
  const api = apiServer(1);
  let late: object | undefined;
  let lists = 0;
  api.onRequest = ({ method, path, body }) => {
    if (method === 'GET' && path === LEASES) lists += 1;
    if (method !== 'PUT' || late) return;
    late = body as object;
    throw new StoreError('ServiceUnavailable', 'no answer');
  };
  const node = fleetNode(api, 'web-1', { run: async () => DONE, slots: { unusedMs: 10 } });
  expect(await node.step(repairStep('web-1'))).toHaveProperty('notNow');
  // The agent has seen that it holds none.
  const before = lists;
  await expect.poll(() => lists).toBeGreaterThan(before + 2);
  api.put(`${LEASES}/kubediag-recovery-0`, late ?? {});
  expect(holders(api)).toEqual(['web-1']);
  await expect.poll(() => holders(api)).toEqual(['']);
});

test('an agent that holds no slot looks for one once, if all its writes were answered', async () => {
  const api = apiServer(1);
  let lists = 0;
  api.onRequest = ({ method, path }) => {
    if (method === 'GET' && path === LEASES) lists += 1;
  };
  fleetNode(api, 'web-1', { run: async () => DONE, slots: { unusedMs: 5 } });
  await expect.poll(() => lists).toBe(2);
  await sleep(50);
  expect(lists).toBe(2);
});

test('a step after a lost slot gets one of its own, which is renewed', async () => {
  const api = apiServer(1);
  const gates = [gate(), gate()];
  const stops: AbortSignal[] = [];
  const run: RunStep = (step) => {
    stops.push(step.stop);
    return gates[stops.length - 1]?.run(step) ?? Promise.resolve(DONE);
  };
  const node = fleetNode(api, 'web-1', { run, slots: { renewMs: 5 } });
  const first = node.step(repairStep('web-1', {}, { name: 'a' }));
  await gates[0]?.begun;
  hold(api, 0, 'web-9');
  await expect.poll(() => stops[0]?.aborted).toBe(true);
  hold(api, 0, '');
  const second = node.step(repairStep('web-1', {}, { name: 'b' }));
  gates[0]?.end(DONE);
  await first;
  await gates[1]?.begun;
  expect(stops[1]?.aborted).toBe(false);
  expect(holders(api)).toEqual(['web-1']);
  hold(api, 0, 'web-9');
  await expect.poll(() => stops[1]?.aborted).toBe(true);
  gates[1]?.end(DONE);
  await second;
});
