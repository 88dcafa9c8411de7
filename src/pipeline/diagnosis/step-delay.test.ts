import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { SyntheticWalk, walkOf } from '../../../test/synthetic-walk.ts';
import type { OperationResult } from '../steps/operation-result.ts';
import type { ApprovalRequest } from '../steps/plan.ts';
import type { StepDelay, StepToRun } from '../steps/step-to-run.ts';
import { Runner } from './runner.ts';

const AGAIN_MS = 5_000;

function slotsTaken(nodes: number): StepDelay {
  return { notNow: { reason: 'NoRecoverySlot', name: `${nodes} nodes` }, againMs: AGAIN_MS };
}

const BEGUN = { reason: 'RecoveryBegun', name: 'kubediag-recovery-1' } as const;
const DONE: OperationResult = { succeeded: true, results: {} };

/** Step b answers with these, one after another. */
async function walkWith(...answers: (StepDelay | ApprovalRequest | OperationResult)[]) {
  const walk = await walkOf('ab');
  walk.acts.set('b', async ({ onBegun }: StepToRun) => {
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    if (answer && 'succeeded' in answer) await onBegun?.(BEGUN);
    return answer ?? DONE;
  });
  return walk;
}

async function waitOf(walk: SyntheticWalk) {
  const { conditions = [] } = await walk.status();
  return conditions.find(({ type }) => type === 'WaitingForRecovery');
}

test('a step that cannot run now leaves a condition, and a time to ask again', async () => {
  const walk = await walkWith(slotsTaken(3));
  const before = Date.now();
  const driven = await walk.drive();
  if (driven.state !== 'waits') throw new Error(driven.state);
  expect(driven.againAt).toBeGreaterThanOrEqual(before + AGAIN_MS);
  expect(driven.againAt).toBeLessThanOrEqual(Date.now() + AGAIN_MS);
  expect(await walk.status()).toMatchObject({ phase: 'Running', currentStep: { operation: 'b' } });
  expect(await waitOf(walk)).toMatchObject({
    status: 'True',
    reason: 'NoRecoverySlot',
    message: '3 nodes',
  });
});

test('writes nothing while it waits for the same, and again when that changes', async () => {
  const walk = await walkWith(slotsTaken(3), slotsTaken(3), slotsTaken(2));
  await walk.drive();
  const { resourceVersion } = (await walk.stored()).metadata;
  await walk.drive();
  expect((await walk.stored()).metadata.resourceVersion).toBe(resourceVersion);
  await walk.drive();
  expect((await walk.stored()).metadata.resourceVersion).not.toBe(resourceVersion);
  expect(await waitOf(walk)).toMatchObject({ message: expect.stringMatching(/^2 nodes/) });
});

test('the condition is False when the step begins, and nothing runs twice', async () => {
  const walk = await walkWith(slotsTaken(3), DONE);
  await walk.drive();
  const before = walk.ran.length;
  const { metadata } = await walk.stored();
  expect(await walk.drive()).toMatchObject({ state: 'ended' });
  expect(walk.ran.slice(before)).toEqual(['b']);
  expect(await waitOf(walk)).toMatchObject({
    status: 'False',
    reason: 'RecoveryBegun',
    message: 'The node holds Lease kubediag-recovery-1 for its recovery',
  });
  expect((await walk.stored()).metadata.uid).toBe(metadata.uid);
  expect(await walk.status()).toMatchObject({ phase: 'Succeeded' });
});

test('a step that never waited has no such condition', async () => {
  const walk = await walkWith(DONE);
  await walk.drive();
  expect(await waitOf(walk)).toBeUndefined();
});

test.each([
  ['cancelled', { cancel: true }, 'DiagnosisCancelled'],
  ['past its deadline', { deadlineSeconds: 1 }, 'DeadlineExceeded'],
])('a Diagnosis that is %s ends while it waits', async (_, change, reason) => {
  const walk = await walkWith(slotsTaken(3));
  await walk.drive();
  await walk.change(change);
  if ('deadlineSeconds' in change) await sleep(1_100);
  expect(await walk.drive()).toMatchObject({ state: 'ended' });
  const { conditions = [], phase } = await walk.status();
  expect(phase).toBe('Failed');
  expect(conditions.map((each) => each.reason)).toContain(reason);
  expect(await waitOf(walk)).toMatchObject({ status: 'False', reason: 'RecoveryNotBegun' });
});

test('a shutdown stores no condition of a step that it has stopped', async () => {
  const walk = await walkOf('ab');
  walk.acts.set('b', async () => {
    walk.shutdown.abort();
    return slotsTaken(3);
  });
  expect(await walk.drive()).toEqual({ state: 'interrupted' });
  expect(await waitOf(walk)).toBeUndefined();
});

test('a deadline is asked again at its time', async () => {
  const walk = await walkOf('ab', { deadlineSeconds: 3 });
  walk.acts.set('b', async () => slotsTaken(3));
  const driven = await walk.drive();
  if (driven.state !== 'waits') throw new Error(driven.state);
  expect(driven.againAt).toBeLessThanOrEqual(Date.now() + 3_000);
});

test('a plan that needs approval by now replaces the wait', async () => {
  const walk = await walkWith(slotsTaken(3), { planned: [], requiredBy: 'RecoveryPolicy' });
  await walk.drive();
  expect(await walk.drive()).toMatchObject({ state: 'waits' });
  expect(await waitOf(walk)).toMatchObject({ status: 'False', reason: 'RecoveryNotBegun' });
  expect(await walk.status()).toMatchObject({
    plan: expect.any(String),
    planRequiredBy: 'RecoveryPolicy',
    result: 'WaitingForApproval',
  });
  // It waits for the approval although its own spec asks for none.
  const ran = walk.ran.length;
  expect(await walk.drive()).toMatchObject({ state: 'waits' });
  expect(walk.ran).toHaveLength(ran);
});

test('a waiting Diagnosis has no place in flight, and runs when it is due', async () => {
  const walk = new SyntheticWalk();
  await walk.graph('ab');
  let asked = 0;
  const isWaiting = Promise.withResolvers<void>();
  walk.acts.set('b', async ({ onBegun }: StepToRun) => {
    asked += 1;
    if (asked === 2) isWaiting.resolve();
    if (asked < 4) return { ...slotsTaken(3), againMs: 50 };
    await onBegun?.(BEGUN);
    return DONE;
  });
  await walk.diagnosis();
  const ended = Promise.withResolvers<void>();
  const runner = new Runner({ ...walk.context, inFlightMax: 1, onEnded: () => ended.resolve() });
  const running = runner.run();
  await isWaiting.promise;
  while (runner.counts.waiting === 0) await sleep(1);
  expect(runner.counts).toEqual({ inFlight: 0, queued: 0, waiting: 1 });
  await ended.promise;
  expect(asked).toBe(4);
  walk.shutdown.abort();
  await running;
});
