import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type SyntheticWalk, walkOf } from '../../../test/synthetic-walk.ts';
import { Runner } from './runner.ts';

const REPORTED = {
  kind: 'unmount',
  fault: 'a-fault',
  finding: '3f9a1c',
  description: 'unmount /a',
  state: 'done',
  endTime: '2026-01-02T03:04:05Z',
  journalEntry: 7,
};

/** Killed in its second step; the walk goes on in the next process. */
async function brokenOff(spec: object = {}): Promise<{ walk: SyntheticWalk; asked: string[] }> {
  const walk = await walkOf('ab', spec);
  walk.acts.set('b', () => new Promise(() => {}));
  void walk.drive();
  await expect.poll(() => walk.ran).toEqual(['a', 'b']);
  const asked: string[] = [];
  walk.earlierActionsFor = async (purpose) => {
    asked.push(purpose);
    return { isKnown: true, record: { actions: [REPORTED] } };
  };
  return { walk, asked };
}

test('lists the actions of an interrupted step when its deadline has passed', async () => {
  const { walk, asked } = await brokenOff({ deadlineSeconds: 10 });
  walk.now = () => new Date(Date.now() + 10_000);
  expect(await walk.drive()).toMatchObject({ state: 'ended' });
  const { metadata, status } = await walk.stored();
  expect(status).toMatchObject({
    phase: 'Failed',
    conditions: [{}, { reason: 'DeadlineExceeded' }],
    actions: [REPORTED],
  });
  expect(asked).toEqual([`${metadata.uid}/2/default/walk`]);
  // It is reported once.
  await walk.drive();
  expect(await walk.stored()).toMatchObject({ status });
  expect(walk.ran).toEqual(['a', 'b']);
});

test('lists the actions of an interrupted step when it is cancelled, or reports that they are unknown', async () => {
  const { walk } = await brokenOff();
  await walk.change({ cancel: true });
  await walk.drive();
  expect((await walk.status()).actions).toMatchObject([REPORTED]);

  const { walk: other } = await brokenOff();
  other.earlierActionsFor = async () => ({ isKnown: false, why: 'process 7 still unmounts it' });
  await other.change({ cancel: true });
  await other.drive();
  expect(await other.status()).toMatchObject({ phase: 'Failed' });
  expect((await other.status()).actions).toBeUndefined();
  expect(other.errors).toEqual([expect.stringContaining('process 7 still unmounts it')]);
});

test('does not read the journal before the first step, nor for a step that another path completed', async () => {
  const early = await walkOf('a', { cancel: true });
  early.earlierActionsFor = () => Promise.reject(new Error('there is nothing to ask for'));
  await early.drive();
  expect(await early.status()).toMatchObject({ phase: 'Failed' });

  // 0 -> a -> (b | c)
  const shared = await walkOf('abc');
  const set = await shared.store.get({ kind: 'OperationSet', name: 'some' });
  if (!set) throw new Error('no set');
  const ends = [{ operation: 'b' }, { operation: 'c' }];
  const adjacencyList = [{ to: [1] }, { operation: 'a', to: [2, 3] }, ...ends];
  await shared.store.update({ ...set, spec: { adjacencyList } });
  shared.earlierActionsFor = early.earlierActionsFor;
  shared.acts.set('b', async () => {
    await shared.change({ cancel: true });
    return { succeeded: false, message: 'no' };
  });
  await shared.drive();
  expect(await shared.status()).toMatchObject({ phase: 'Failed' });
});

const AGENT_LOST = { type: 'AgentLost', status: 'True', reason: 'AgentLost', message: 'lost' };
const NOT_RUN_AGAIN = ['a', 'b'];

/** As a controller ends it while its agent is lost. */
async function endedByController(walk: SyntheticWalk): Promise<void> {
  const object = await walk.stored();
  const failed = { ...AGENT_LOST, type: 'Failed' };
  const status = { ...object.status, phase: 'Failed', conditions: [AGENT_LOST, failed] };
  await walk.store.updateStatus({ ...object, status });
}

function runnerOf(walk: SyntheticWalk): { readonly stop: () => Promise<void> } {
  const shutdown = new AbortController();
  const running = new Runner({ ...walk.context, shutdown: shutdown.signal }).run();
  return {
    stop: async () => {
      shutdown.abort();
      await running;
    },
  };
}

const SETTLED = {
  phase: 'Failed',
  conditions: [
    { type: 'AgentLost', status: 'False', reason: 'AgentReturned' },
    { type: 'Failed', status: 'True', reason: 'AgentLost' },
  ],
  actions: [REPORTED],
};

test('an agent that starts again adds what it had done before a controller ended its Diagnosis', async () => {
  const { walk, asked } = await brokenOff();
  await endedByController(walk);
  const agent = runnerOf(walk);
  await expect.poll(() => walk.status()).toMatchObject(SETTLED);
  await agent.stop();
  const { resourceVersion } = (await walk.stored()).metadata;
  // Nothing is left to do for the next one.
  const next = runnerOf(walk);
  await sleep(100);
  await next.stop();
  expect((await walk.stored()).metadata.resourceVersion).toBe(resourceVersion);
  expect(asked).toHaveLength(1);
  expect(walk.ran).toEqual(NOT_RUN_AGAIN);
});

test('an agent whose step ran while a controller ended its Diagnosis adds what that step has done', async () => {
  const walk = await walkOf('ab');
  const isAborted = Promise.withResolvers<void>();
  walk.acts.set('b', async ({ stop }) => {
    await endedByController(walk);
    await new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve()));
    isAborted.resolve();
    return { succeeded: true, results: { b: 'done' }, record: { actions: [REPORTED] } };
  });
  walk.earlierActionsFor = async () => ({ isKnown: true, record: { actions: [REPORTED] } });
  const agent = runnerOf(walk);
  // It need not run to its end.
  await isAborted.promise;
  await expect.poll(() => walk.status()).toMatchObject(SETTLED);
  expect(walk.ran).toEqual(NOT_RUN_AGAIN);
  expect((await walk.status()).operationResults).toEqual({ a: 'done' });
  await agent.stop();
});

test('an agent asks again while the journal is unknown, and says so', async () => {
  const { walk } = await brokenOff();
  await endedByController(walk);
  walk.earlierActionsFor = async () => ({ isKnown: false, why: 'no executor' });
  const driven = await walk.drive();
  expect(driven).toMatchObject({ state: 'waits' });
  expect((await walk.status()).conditions).toMatchObject([{ status: 'True' }, {}]);
  expect(walk.errors).toEqual([expect.stringContaining('no executor')]);
  walk.earlierActionsFor = async () => ({ isKnown: true, record: {} });
  expect(await walk.drive()).toMatchObject({ state: 'ended' });
  expect((await walk.status()).conditions).toMatchObject([{ reason: 'AgentReturned' }, {}]);
});

test('an agent that was lost and ends its Diagnosis itself takes the condition back', async () => {
  const walk = await walkOf('ab');
  walk.acts.set('a', async () => {
    const object = await walk.stored();
    const { conditions = [] } = await walk.status();
    const status = { ...object.status, conditions: [...conditions, AGENT_LOST] };
    await walk.store.updateStatus({ ...object, status });
    return { succeeded: true, results: {} };
  });
  await walk.drive();
  const { phase, conditions } = await walk.status();
  expect(phase).toBe('Succeeded');
  expect(conditions).toContainEqual(
    expect.objectContaining({ type: 'AgentLost', status: 'False', reason: 'AgentReturned' }),
  );
});
