import { expect, test } from 'vitest';
import { walkOf } from '../../../test/synthetic-walk.ts';
import { plannedOf, type Wanted } from '../steps/plan.ts';
import type { StepOutcome, StepToRun } from '../steps/step-to-run.ts';
import type { StoredObject } from '../store/store.ts';
import { StoreError } from '../store/store-error.ts';
import { Runner } from './runner.ts';

const WANTED: Wanted = {
  fault: 'a-fault',
  finding: '3f9a1c',
  summary: 'The pod cannot start.',
  actions: [{ kind: 'unmount', id: 1, parent: 2, device: '8:1', root: '/x', target: '/a' }],
};
const DONE = { kind: 'unmount', fault: 'a-fault', finding: '3f9a1c', state: 'done' };

/** A step that repairs, once somebody has approved. */
function repairing({ diagnosis: { spec, status } }: StepToRun): StepOutcome {
  if (spec.recovery === 'Never') return { succeeded: false, message: 'refused', reason: 'Refused' };
  const isApproved = status.plan !== undefined && spec.approvedPlan === status.plan;
  if (spec.recovery === 'Approval' && !isApproved) {
    return { planned: plannedOf([WANTED]) };
  }
  return { succeeded: true, results: {}, record: { actions: [DONE] } };
}

async function asking(spec: object = {}) {
  const walk = await walkOf('a', { recovery: 'Approval', ...spec });
  walk.acts.set('a', repairing);
  expect(await walk.drive()).toMatchObject({ state: 'waits' });
  expect(await walk.status()).toMatchObject({ phase: 'Running', result: 'WaitingForApproval' });
  return walk;
}

test('a waiting Diagnosis has the result WaitingForApproval until its plan runs', async () => {
  const walk = await asking();
  const seen: unknown[] = [];
  walk.acts.set('a', async (step) => {
    seen.push((await walk.status()).result);
    return repairing(step);
  });
  await walk.change({ approvedPlan: (await walk.status()).plan });
  await walk.drive();
  expect(seen).toEqual([undefined]);
  expect(await walk.status()).toMatchObject({ phase: 'Succeeded', result: 'Repaired' });
});

test.each([
  ['is cancelled', { cancel: true }, 'Cancelled'],
  ['may never act from now on', { recovery: 'Never' }, 'Refused'],
  ['has no more time', { deadlineSeconds: 1 }, 'Error'],
])('a Diagnosis that waits for approval and %s', async (_, change, result) => {
  const walk = await asking();
  await walk.change(change);
  walk.now = () => new Date(Date.now() + 5_000);
  await walk.drive();
  expect(await walk.status()).toMatchObject({ phase: 'Failed', result });
});

test('a restarted agent goes on with a waiting Diagnosis', async () => {
  const walk = await asking();
  const ended: StoredObject[] = [];
  const runner = new Runner({ ...walk.context, onEnded: (object) => ended.push(object) });
  const running = runner.run();
  await expect.poll(() => runner.counts.waiting).toBe(1);
  expect((await walk.status()).result).toBe('WaitingForApproval');
  await walk.change({ approvedPlan: (await walk.status()).plan });
  await expect.poll(async () => (await walk.status()).result).toBe('Repaired');
  walk.shutdown.abort();
  await running;
});

test('an interrupted Diagnosis has no result until it goes on', async () => {
  const walk = await walkOf('ab');
  walk.acts.set('b', () => {
    walk.shutdown.abort();
    return { succeeded: false, message: 'stopped' };
  });
  expect(await walk.drive()).toEqual({ state: 'interrupted' });
  expect((await walk.status()).result).toBeUndefined();
});

test.each([
  ['by its only step', 'a', 'Completed'],
  ['without its OperationSet', undefined, 'Error'],
])('a Diagnosis that ends %s', async (_, graph, result) => {
  const walk = await walkOf('a', graph === undefined ? { operationSet: 'none' } : {});
  if (graph === undefined) await walk.drive();
  walk.now = () => new Date(Date.now() + 120_000);
  await walk.drive();
  expect(await walk.status()).toMatchObject({ result });
});

test('a Diagnosis without space for its status ends with Error', async () => {
  const walk = await walkOf('a');
  const { store } = walk;
  walk.store = {
    ...Object.fromEntries(
      (['create', 'get', 'list', 'each', 'update', 'delete', 'watch'] as const).map((name) => [
        name,
        (store[name] as (...all: readonly unknown[]) => unknown).bind(store),
      ]),
    ),
    updateStatus: async (object) => {
      if (object.status?.phase !== 'Failed')
        throw new StoreError('RequestEntityTooLarge', 'too large');
      return store.updateStatus(object);
    },
  } as typeof store;
  await walk.drive();
  expect(await walk.status()).toMatchObject({ phase: 'Failed', result: 'Error' });
});

test('a Diagnosis with a malformed object ends with Error', async () => {
  const walk = await walkOf('a', { operationSet: undefined });
  const running = new Runner(walk.context).run();
  await expect.poll(async () => (await walk.status()).result).toBe('Error');
  walk.shutdown.abort();
  await running;
});
