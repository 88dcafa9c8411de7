import { expect, test } from 'vitest';
import { INTENT, KUBELET_PID, MadeHands, TARGET } from '../../../test/made-hands.ts';
import { DiskError } from '../../lib/state/state-folder.ts';
import { ReadError } from '../model/node-reader.ts';
import { perform } from './perform.ts';

const UNMOUNTED = `unmount ${TARGET} in ${KUBELET_PID}`;

test('the intent comes before the deed, the outcome after it, and each step is told', async () => {
  const made = new MadeHands();
  await perform(INTENT, { ...made.hands, onStep: ({ name }) => made.log.push(`[${name}]`) });
  expect(made.log).toEqual([
    '[looked again]',
    'intend',
    '[intent written]',
    UNMOUNTED,
    '[acted]',
    '[looked afterwards]',
    'done',
  ]);
});

test('what the policy does not permit is refused before the node is even looked at', async () => {
  const made = new MadeHands();
  const hands = { ...made.hands, permitted: new Set<never>(), look: () => expect.unreachable() };
  const { outcome } = await perform(INTENT, hands);
  expect(outcome).toMatchObject({ state: 'refused', what: expect.stringContaining('permitted') });
  expect(made.log).toEqual([]);
});

test('a node that cannot be looked at again is left alone', async () => {
  const made = new MadeHands();
  made.node.set('link', { path: `/proc/${KUBELET_PID}/root` }, { failure: 'timeout' });
  const { outcome } = await perform(INTENT, made.hands);
  expect(outcome).toMatchObject({
    state: 'refused',
    what: 'the node could not be looked at again',
    why: `/proc/${KUBELET_PID}/root: no answer within the time limit`,
  });
  expect(made.log).toEqual([]);
});

test('every read that fails before the act leaves the node alone', async () => {
  const keys = [...new MadeHands().node.answers.keys()];
  for (const key of keys) {
    const made = new MadeHands();
    const hands = made.hands;
    made.node.answers.set(key, { failure: 'denied' });
    const { outcome } = await perform(INTENT, hands);
    // What the judgement does not need may fail; the deed itself is then the same as ever.
    if (outcome.state === 'done') expect(made.log).toEqual(['intend', UNMOUNTED, 'done']);
    else expect([outcome.state, made.log], key).toEqual(['refused', []]);
  }
});

test('a mistake of ours is not dressed up as a refusal', async () => {
  const made = new MadeHands();
  const look = () => {
    throw new TypeError('a bug');
  };
  await expect(perform(INTENT, { ...made.hands, look })).rejects.toThrow('a bug');
});

test('without a journal there is no act', async () => {
  const made = new MadeHands();
  const intend = async () => {
    throw new DiskError('no space left on device');
  };
  const { outcome, entry } = await perform(INTENT, {
    ...made.hands,
    journal: { ...made.hands.journal, intend },
  });
  expect(entry).toBeUndefined();
  expect(outcome).toMatchObject({ state: 'refused', why: 'no space left on device' });
  expect(made.log).toEqual([]);
});

test('an outcome that cannot be journaled is told with what was done', async () => {
  const made = new MadeHands();
  const conclude = async () => {
    throw new DiskError('no space left on device');
  };
  const { outcome, entry } = await perform(INTENT, {
    ...made.hands,
    journal: { ...made.hands.journal, conclude },
  });
  expect(entry).toBe(1);
  expect(outcome).toEqual({
    state: 'done',
    note: 'the journal does not tell this yet, the next start will: no space left on device',
  });
});

test('an act that throws has failed, and is journaled', async () => {
  const made = new MadeHands();
  made.inAct = () => {
    throw new Error('spawn EAGAIN');
  };
  const { outcome } = await perform(INTENT, made.hands);
  expect(outcome).toMatchObject({ state: 'failed', why: 'spawn EAGAIN' });
  expect(made.log).toEqual(['intend', UNMOUNTED, 'failed']);
});

test('a deed that cannot be looked at afterwards is not called done', async () => {
  const made = new MadeHands();
  const { look } = made.hands;
  let looks = 0;
  const { outcome } = await perform(INTENT, {
    ...made.hands,
    look: () => {
      looks += 1;
      if (looks === 1) return look();
      throw new ReadError('timeout', '/proc/812/mountinfo');
    },
  });
  expect(outcome).toMatchObject({
    state: 'failed',
    what: 'it was done, but could not be looked at afterwards',
    why: '/proc/812/mountinfo: no answer within the time limit',
  });
  expect(made.log.at(-1)).toBe('failed');
});

test('a stop before the intent changes nothing', async () => {
  const made = new MadeHands();
  const { outcome } = await perform(INTENT, { ...made.hands, stop: AbortSignal.abort() });
  expect(outcome).toMatchObject({ state: 'refused', what: 'stopped' });
  expect(made.log).toEqual([]);
});

test('a stop after the intent lets the deed go through to its end', async () => {
  const made = new MadeHands();
  const stopping = new AbortController();
  const { outcome } = await perform(INTENT, {
    ...made.hands,
    stop: stopping.signal,
    onStep: ({ name }) => name === 'intent written' && stopping.abort(),
  });
  expect(outcome).toEqual({ state: 'done' });
  expect(made.log).toEqual(['intend', UNMOUNTED, 'done']);
});

test('one action at a time', async () => {
  const made = new MadeHands();
  const hands = made.hands;
  const [first, second] = await Promise.all([perform(INTENT, hands), perform(INTENT, hands)]);
  expect(first.outcome).toEqual({ state: 'done' });
  expect(second.outcome).toMatchObject({
    state: 'refused',
    what: 'another action is being performed',
  });
  expect(made.log).toEqual(['intend', UNMOUNTED, 'done']);
  expect((await perform(INTENT, hands)).outcome).toMatchObject({ state: 'done' });
});
