import { expect, test } from 'vitest';
import { type SyntheticWalk, walkOf } from '../../../test/synthetic-walk.ts';

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
