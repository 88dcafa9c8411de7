import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import {
  fleetNode,
  OTHER_FAULT,
  OTHER_PATH,
  repairStep,
} from '../../../../test/synthetic-fleet.ts';
import {
  apiServer,
  DONE,
  failures,
  gate,
  hold,
  holders,
  LEASES,
  NO_EFFECT,
  POLICY,
  permit,
  untilStopped,
} from '../../../../test/synthetic-slots.ts';
import type { RunStep } from '../../../pipeline/steps/step-to-run.ts';

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

test('a node that may not write the Leases says so', async () => {
  const api = apiServer(3);
  api.forbidden = '/leases/';
  let lists = 0;
  api.onRequest = ({ method, path }) => {
    if (method === 'GET' && path === LEASES) lists += 1;
  };
  const node = fleetNode(api, 'web-1', { run: async () => DONE, slots: { unusedMs: 5 } });
  await expect.poll(() => lists).toBe(2);
  expect(await node.step(repairStep('web-1'))).toMatchObject({
    notNow: {
      reason: 'NoRecoverySlot',
      name: expect.stringMatching(
        /^The agent of this node cannot take Lease kubediag-recovery-\d \(Forbidden\)$/,
      ),
    },
  });
  // Such a write does not happen later.
  await sleep(50);
  expect(lists).toBe(3);
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
  const steps = ['a', 'b'].map((name) => node.stepInTurn(repairStep('web-1', {}, { name })));
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

test('a step does not wait in flight for another one of its node, and is woken when that ends', async () => {
  const api = apiServer(1);
  const { run, begun, end } = gate();
  let ends = 0;
  const onTurnEnd = () => {
    ends += 1;
  };
  const node = fleetNode(api, 'web-1', { run, slots: { onTurnEnd } });
  const first = node.step(repairStep('web-1', {}, { name: 'a' }));
  await begun;
  const { writes } = api;
  const before = writes.length;
  expect(await node.step(repairStep('web-1', {}, { name: 'b' }))).toEqual({
    notNow: {
      reason: 'NoRecoverySlot',
      name: expect.stringMatching(/^Another Diagnosis is repairing/),
    },
    againMs: expect.any(Number),
  });
  expect(writes).toHaveLength(before);
  expect(ends).toBe(0);
  end(DONE);
  await first;
  expect(ends).toBe(1);
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
    names.map((name) => node.stepInTurn(repairStep('web-1', {}, { name }))),
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
  const node = fleetNode(api, 'web-1', { run: untilStopped, slots: { renewMs: 10 } });
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

test('a slot that a person frees during a repair is not taken again, and no other action begins', async () => {
  const api = apiServer(1);
  const node = fleetNode(api, 'web-1', { run: untilStopped, slots: { renewMs: 10 } });
  const repairing = node.step(repairStep('web-1'));
  await expect.poll(() => holders(api)).toEqual(['web-1']);
  permit(api, 1, { paused: true }, 2);
  hold(api, 0, '');
  expect(await repairing).toEqual(DONE);
  expect(holders(api)).toEqual(['']);
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

test('a step that was interrupted goes on although another one of its node has asked before it', async () => {
  const api = apiServer(1, { paused: true });
  hold(api, 0, 'web-1');
  const node = fleetNode(api, 'web-1', { run: async () => DONE, hasBegun: ['a'] });
  const [b, a] = ['b', 'a'].map((name) => repairStep('web-1', {}, { name }));
  if (!a || !b) throw new Error('no steps');
  expect(await node.step(b)).toMatchObject({ notNow: { reason: 'RecoveryPaused' } });
  expect(await node.step(a)).toEqual(DONE);
  expect(holders(api)).toEqual(['']);
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

test('a step whose author nobody has checked is refused although another one of its node waits', async () => {
  const api = apiServer(1, { paused: true });
  const policy = api.objects.get(POLICY);
  const since = { rightsEnforcedSince: '2026-01-05T11:00:00Z' };
  api.put(POLICY, { ...policy, status: { ...(policy?.status as object), ...since } });
  const node = fleetNode(api, 'web-1', { run: async () => DONE });
  const step = (name: string, createdAt: string) => {
    const { diagnosis, ...rest } = repairStep('web-1', {}, { name });
    return node.step({ ...rest, diagnosis: { ...diagnosis, createdAt } });
  };
  expect(await step('new', '2026-01-05T12:00:00Z')).toMatchObject({
    notNow: { reason: 'RecoveryPaused' },
  });
  expect(await step('old', '2026-01-05T10:00:00Z')).toMatchObject({ reason: 'Refused' });
});

test('a step whose turn comes after a change of the policy is decided with the new one', async () => {
  const api = apiServer(1);
  const node = fleetNode(api, 'web-1', { run: async () => DONE });
  let writes = 0;
  api.onRequest = ({ method }) => {
    if (method === 'PUT') writes += 1;
    // The first takes the slot, the second releases it.
    if (writes === 2) permit(api, 1, { paused: true });
  };
  const [first, second] = await Promise.all(
    ['a', 'b'].map((name) => node.stepInTurn(repairStep('web-1', {}, { name }))),
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
  const second = node.stepInTurn(repairStep('web-1', {}, { name: 'b' }));
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
