import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { fleetNode, repairStep } from '../../../../test/synthetic-fleet.ts';
import {
  apiServer,
  DONE,
  failures,
  gate,
  hold,
  holders,
  LEASES,
  NO_EFFECT,
} from '../../../../test/synthetic-slots.ts';
import type { OperationResult } from '../../../pipeline/steps/operation-result.ts';
import type { RunStep } from '../../../pipeline/steps/step-to-run.ts';
import { StoreError } from '../../../pipeline/store/store-error.ts';

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

test('a slot is not released just after the executor connects: its interrupted step is first', async () => {
  const api = apiServer(1, { paused: true });
  hold(api, 0, 'web-1');
  const unusedMs = 400;
  const node = fleetNode(api, 'web-1', { run: async () => DONE, slots: { unusedMs } });
  for (let times = 0; times < 12; times += 1) {
    await sleep(unusedMs / 8);
    node.slots.executorConnected();
  }
  expect(holders(api)).toEqual(['web-1']);
  await expect.poll(() => holders(api)).toEqual(['']);
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

test('a slot is renewed until the journal is settled, but not taken again', async () => {
  const api = apiServer(1);
  const settle = async () => ({ isSettled: false as const, why: 'it acts' });
  const run: RunStep = async ({ onUnanswered }) => {
    onUnanswered?.();
    return NO_EFFECT;
  };
  const node = fleetNode(api, 'web-1', { run, settle, slots: { unusedMs: 10 } });
  await node.step(repairStep('web-1'));
  const { length } = api.writes;
  await expect.poll(() => api.writes.length).toBeGreaterThan(length + 2);
  expect(holders(api)).toEqual(['web-1']);
  hold(api, 0, '');
  await sleep(50);
  expect(holders(api)).toEqual(['']);
});

test('a failure is written to a free Lease if another node has that of the step', async () => {
  const api = apiServer(2, { stopAfterFailures: 1 });
  const { run, begun, end } = gate();
  const node = fleetNode(api, 'web-1', { run, slots: { unusedMs: 10 } });
  const repairing = node.step(repairStep('web-1'));
  await begun;
  const lost = holders(api).indexOf('web-1');
  hold(api, 0, 'web-2');
  hold(api, 1, 'web-3');
  end(NO_EFFECT);
  await repairing;
  await sleep(50);
  expect([...failures(api, 0), ...failures(api, 1)]).toEqual([]);
  hold(api, 1 - lost, '');
  await expect.poll(() => failures(api, 1 - lost)).toMatchObject([{ nodeName: 'web-1' }]);
  expect(holders(api).filter((each) => each === 'web-1')).toEqual([]);
  const other = fleetNode(api, 'web-4', { run: async () => DONE });
  expect(await other.step(repairStep('web-4'))).toMatchObject({
    notNow: { reason: 'RecoveryStopped' },
  });
});
