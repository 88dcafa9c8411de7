import { expect, test } from 'vitest';
import { deadNode, FORCE } from '../../../test/synthetic-dead-volume.ts';
import { INTENT, KUBELET_PID, SyntheticRepair, TARGET } from '../../../test/synthetic-repair.ts';
import { DiskError } from '../../lib/state/state-folder.ts';
import { takeSnapshot } from '../checkup/take-snapshot.ts';
import { ReadError } from '../model/node-reader.ts';
import { objectionTo, perform } from './perform.ts';

const UNMOUNTED = `unmount ${TARGET} in ${KUBELET_PID}`;

test('the intent comes before the action, the outcome after it, and each step is reported', async () => {
  const fixture = new SyntheticRepair();
  await perform(INTENT, { ...fixture.repair, onStep: ({ name }) => fixture.log.push(`[${name}]`) });
  expect(fixture.log).toEqual([
    '[checked again]',
    'intend',
    '[intent written]',
    UNMOUNTED,
    '[acted]',
    '[checked afterwards]',
    'done',
  ]);
});

test('what the policy does not permit is refused before the node is even checked', async () => {
  const fixture = new SyntheticRepair();
  const repair = {
    ...fixture.repair,
    permitted: new Set<never>(),
    snapshot: () => expect.unreachable(),
  };
  const { outcome } = await perform(INTENT, repair);
  expect(outcome).toMatchObject({ state: 'refused', what: expect.stringContaining('permitted') });
  expect(fixture.log).toEqual([]);
});

test('the limit of actions per hour holds before the intent is written', async () => {
  const fixture = new SyntheticRepair();
  fixture.actionsInLastHour = 3;
  const { outcome, entry } = await perform(INTENT, { ...fixture.repair, actionsPerHour: 3 });
  expect(outcome).toMatchObject({
    state: 'refused',
    what: 'the limit of actions per hour is reached',
    why: 'the policy of this host permits 3, and the journal has 3 of the last hour',
    todo: expect.stringContaining('raise actionsPerHour'),
  });
  expect([entry, fixture.log]).toEqual([undefined, []]);
  fixture.actionsInLastHour = 2;
  const next = await perform(INTENT, { ...fixture.repair, actionsPerHour: 3 });
  expect(next.outcome.state).toBe('done');
});

test('with a limit of actions, a journal that cannot be read prevents them', async () => {
  const { repair, log } = new SyntheticRepair();
  const journal = {
    ...repair.journal,
    actionsInLastHour: () => Promise.reject(new DiskError('journal.jsonl: input/output error')),
  };
  const { outcome } = await perform(INTENT, { ...repair, journal, actionsPerHour: 3 });
  expect(outcome).toMatchObject({ state: 'refused', what: 'the journal cannot be read' });
  expect(log).toEqual([]);
});

test('a node that cannot be checked again is left alone', async () => {
  const fixture = new SyntheticRepair();
  fixture.node.set('link', { path: `/proc/${KUBELET_PID}/root` }, { failure: 'timeout' });
  const { outcome } = await perform(INTENT, fixture.repair);
  expect(outcome).toMatchObject({
    state: 'refused',
    what: 'the node could not be checked again',
    why: `/proc/${KUBELET_PID}/root: no answer within the time limit`,
  });
  expect(fixture.log).toEqual([]);
});

test('every read that fails before the act leaves the node alone', async () => {
  const keys = [...new SyntheticRepair().node.answers.keys()];
  for (const key of keys) {
    const fixture = new SyntheticRepair();
    const repair = fixture.repair;
    fixture.node.answers.set(key, { failure: 'denied' });
    const { outcome } = await perform(INTENT, repair);
    // What the judgement does not need may fail; the action itself is then the same.
    if (outcome.state === 'done') expect(fixture.log).toEqual(['intend', UNMOUNTED, 'done']);
    else expect([outcome.state, fixture.log], key).toEqual(['refused', []]);
  }
});

test.each(['timeout', 'denied', 'too-large'] as const)(
  'a forced unmount is refused when the file behind a loop device cannot be read: %s',
  async (failure) => {
    const path = '/sys/block/loop1/loop/backing_file';
    const snapshot = takeSnapshot(deadNode().set('file', { path }, { failure }).build());
    expect(await objectionTo(FORCE, snapshot, new SyntheticRepair().repair.writer)).toMatchObject({
      state: 'refused',
      what: 'the node could not be checked again',
      why: expect.stringContaining(`${path}: `),
    });
  },
);

test('a mistake of ours is not dressed up as a refusal', async () => {
  const fixture = new SyntheticRepair();
  const snapshot = () => {
    throw new TypeError('a bug');
  };
  await expect(perform(INTENT, { ...fixture.repair, snapshot })).rejects.toThrow('a bug');
});

test('without a journal there is no act', async () => {
  const fixture = new SyntheticRepair();
  const intend = async () => {
    throw new DiskError('no space left on device');
  };
  const { outcome, entry } = await perform(INTENT, {
    ...fixture.repair,
    journal: { ...fixture.repair.journal, intend },
  });
  expect(entry).toBeUndefined();
  expect(outcome).toMatchObject({ state: 'refused', why: 'no space left on device' });
  expect(fixture.log).toEqual([]);
});

test('an outcome that cannot be journaled is reported with what was done', async () => {
  const fixture = new SyntheticRepair();
  const conclude = async () => {
    throw new DiskError('no space left on device');
  };
  const { outcome, entry } = await perform(INTENT, {
    ...fixture.repair,
    journal: { ...fixture.repair.journal, conclude },
  });
  expect(entry).toBe(1);
  expect(outcome).toEqual({
    state: 'done',
    note: 'the journal does not have this yet, the next start will add it: no space left on device',
  });
});

test('an act that throws has failed, and is journaled', async () => {
  const fixture = new SyntheticRepair();
  fixture.inAct = () => {
    throw new Error('spawn EAGAIN');
  };
  const { outcome } = await perform(INTENT, fixture.repair);
  expect(outcome).toMatchObject({ state: 'failed', why: 'spawn EAGAIN' });
  expect(fixture.log).toEqual(['intend', UNMOUNTED, 'failed']);
});

test('an action that cannot be verified afterwards is not called done', async () => {
  const fixture = new SyntheticRepair();
  const { snapshot } = fixture.repair;
  let looks = 0;
  const { outcome } = await perform(INTENT, {
    ...fixture.repair,
    snapshot: () => {
      looks += 1;
      if (looks === 1) return snapshot();
      throw new ReadError('timeout', '/proc/812/mountinfo');
    },
  });
  expect(outcome).toMatchObject({
    state: 'failed',
    what: 'it was done, but could not be verified afterwards',
    why: '/proc/812/mountinfo: no answer within the time limit',
  });
  expect(fixture.log.at(-1)).toBe('failed');
});

test('a stop before the intent changes nothing', async () => {
  const fixture = new SyntheticRepair();
  const { outcome } = await perform(INTENT, { ...fixture.repair, stop: AbortSignal.abort() });
  expect(outcome).toMatchObject({ state: 'refused', what: 'stopped' });
  expect(fixture.log).toEqual([]);
});

test('a stop after the intent lets the action finish', async () => {
  const fixture = new SyntheticRepair();
  const stopping = new AbortController();
  const { outcome } = await perform(INTENT, {
    ...fixture.repair,
    stop: stopping.signal,
    onStep: ({ name }) => name === 'intent written' && stopping.abort(),
  });
  expect(outcome).toEqual({ state: 'done' });
  expect(fixture.log).toEqual(['intend', UNMOUNTED, 'done']);
});

test('one action at a time', async () => {
  const fixture = new SyntheticRepair();
  const repair = fixture.repair;
  const [first, second] = await Promise.all([perform(INTENT, repair), perform(INTENT, repair)]);
  expect(first.outcome).toEqual({ state: 'done' });
  expect(second.outcome).toMatchObject({
    state: 'refused',
    what: 'another action is being performed',
  });
  expect(fixture.log).toEqual(['intend', UNMOUNTED, 'done']);
  expect((await perform(INTENT, repair)).outcome).toMatchObject({ state: 'done' });
});
