import { expect, test } from 'vitest';
import type { Action, Outcome } from '../model/action.ts';
import type { Intent, JournalRecord } from './journal.ts';
import type { OpenRepair } from './open-repair.ts';
import { type RecoveryHost, type RecoveryPlan, recover, remainingPlan } from './recover.ts';

const aside = (volume: string): Action => ({
  kind: 'set-aside',
  ...{ podUid: '29da79e5', volume, inode: '12' },
});
const [FIRST, SECOND, THIRD] = ['a', 'b', 'c'].map(aside) as [Action, Action, Action];

const plan = (finding: string, ...actions: readonly Action[]): RecoveryPlan => ({
  fault: 'orphaned-volume-metadata',
  finding,
  actions,
});

/** Performs every action; the outcomes of some are given. */
function host(more: Partial<RecoveryHost> = {}, outcomes = new Map<Action, Outcome>()) {
  const intents: Intent[] = [];
  const steps: string[] = [];
  const repair: OpenRepair = {
    isOpen: true,
    settled: [],
    close: () => void steps.push('closed'),
    perform: async (intent) => {
      intents.push(intent);
      const outcome = outcomes.get(intent.action) ?? { state: 'done' };
      return { outcome, ...(outcome.state === 'refused' ? {} : { entry: intents.length }) };
    },
  };
  const all: RecoveryHost = {
    decide: async () => ({ given: 'to-act' }),
    saveEvidence: async ({ finding }) => {
      steps.push(`saved ${finding}`);
      return { path: '/bundle' };
    },
    openRepair: async () => {
      steps.push('opened');
      return repair;
    },
    stop: new AbortController().signal,
    ...more,
  };
  return { all, intents, steps };
}

const refusal: Outcome = { state: 'refused', what: 'it changed', why: 'seen', todo: 'check' };

test('plans are carried out under one lock, with the evidence saved first', async () => {
  const { all, intents, steps } = host({ purpose: 'u/2' });
  const results = await recover([plan('f1', FIRST, SECOND), plan('f2', THIRD)], all);
  expect(results.map(({ state }) => state)).toEqual(['done', 'done']);
  expect(steps).toEqual(['saved f1', 'opened', 'closed']);
  expect(intents).toMatchObject([
    { action: FIRST, finding: 'f1', purpose: 'u/2', rest: [SECOND] },
    { action: SECOND, finding: 'f1' },
    { action: THIRD, finding: 'f2', rest: [] },
  ]);
  // The journal has the plan once.
  expect(intents[1]?.rest).toBeUndefined();
});

test('a refused action ends its plan, and the other plans go on', async () => {
  const { all, intents } = host({}, new Map([[FIRST, refusal]]));
  const results = await recover([plan('f1', FIRST, SECOND), plan('f2', THIRD)], all);
  expect(results).toMatchObject([
    { state: 'refused', performed: [{ action: FIRST, outcome: refusal }] },
    { state: 'done' },
  ]);
  expect(intents.map(({ action }) => action)).toEqual([FIRST, THIRD]);
});

test('an action without effect fails its plan', async () => {
  const none: Outcome = { ...refusal, state: 'no-effect' };
  const { all } = host({}, new Map([[FIRST, none]]));
  expect(await recover([plan('f1', FIRST, SECOND)], all)).toMatchObject([{ state: 'failed' }]);
});

test('what nobody agrees to is neither saved nor performed', async () => {
  const { all, steps } = host({
    decide: async ({ finding }) =>
      finding === 'f1' ? { given: 'to-plan' } : { given: 'none', why: 'refused: no' },
  });
  expect(await recover([plan('f1', FIRST), plan('f2', SECOND)], all)).toMatchObject([
    { state: 'planned' },
    { state: 'declined', why: 'refused: no' },
  ]);
  expect(steps).toEqual([]);
});

test('every action gets the whole word that a person gave: it may name several pods', async () => {
  const { all, intents } = host({ decide: async () => ({ given: 'to-act', confirmed: 'x,y' }) });
  await recover([plan('f1', FIRST, SECOND)], all);
  expect(intents).toMatchObject([
    { action: { confirmed: 'x,y' } },
    { action: { confirmed: 'x,y' } },
  ]);
});

test('without evidence, without the lock, and after a stop nothing is performed', async () => {
  const unsaved = host({ saveEvidence: async () => ({ failure: 'disk full' }) });
  expect(await recover([plan('f1', FIRST)], unsaved.all)).toMatchObject([
    { state: 'prevented', failure: { what: 'the evidence cannot be saved', why: 'disk full' } },
  ]);
  const { state: _, ...failure } = refusal;
  const locked = host({ openRepair: async () => ({ isOpen: false, ...failure }) });
  expect(await recover([plan('f1', FIRST)], locked.all)).toMatchObject([
    { state: 'prevented', failure },
  ]);
  const stopped = host({ stop: AbortSignal.abort() });
  expect(await recover([plan('f1', FIRST)], stopped.all)).toMatchObject([{ state: 'prevented' }]);
  expect([...unsaved.intents, ...locked.intents, ...stopped.intents]).toEqual([]);
  expect(stopped.steps.at(-1)).toBe('closed');
});

test('the lock is given back after a mistake of ours, too', async () => {
  const { all, steps } = host({
    onPerformed: () => {
      throw new Error('a mistake');
    },
  });
  await expect(recover([plan('f1', FIRST)], all)).rejects.toThrow('a mistake');
  expect(steps.at(-1)).toBe('closed');
});

const done = (action: Action, rest?: readonly Action[]) =>
  ({
    ...{ entry: 1, at: '', event: 'concluded', boot: 'b', outcome: { state: 'done' } },
    ...{ fault: 'orphaned-volume-metadata', finding: 'f1', action, rest },
  }) as JournalRecord;

test('what is left of an interrupted plan is what the journal does not show as done', async () => {
  const left = remainingPlan([done(FIRST, [SECOND, THIRD]), done(SECOND)]);
  expect(left).toMatchObject({ finding: 'f1', actions: [THIRD], resumes: [FIRST, SECOND, THIRD] });
  expect(remainingPlan([done(FIRST, [SECOND]), done(SECOND)])).toBeUndefined();
  expect(remainingPlan([done(FIRST)])).toBeUndefined();
  // The newest plan counts: an attempt that still found it has made its own.
  expect(remainingPlan([done(FIRST, [THIRD]), done(SECOND, [])])).toBeUndefined();
  if (!left) throw new Error('nothing is left');
  const { all, intents } = host();
  await recover([left], all);
  expect(intents).toEqual([expect.objectContaining({ action: THIRD, rest: undefined })]);
});

test('a word that a person typed holds for one attempt: the next one needs it again', async () => {
  const first = host({ decide: async () => ({ given: 'to-act', confirmed: 'x' }) });
  await recover([plan('f1', FIRST, SECOND, THIRD)], first.all);
  const [begun, next] = first.intents;
  if (!begun || !next) throw new Error('nothing was performed');
  const records = [
    done(begun.action, begun.rest),
    // The journal has what an action added to its intent.
    done({ ...next.action, seenGone: '29da79e5' }),
  ];
  const left = remainingPlan(records);
  expect(left?.actions).toEqual([THIRD]);
  expect(left?.resumes).toEqual([FIRST, SECOND, THIRD]);
  if (!left) throw new Error('nothing is left');
  const withYes = host();
  await recover([left], withYes.all);
  expect(withYes.intents.map(({ action }) => action)).toEqual([THIRD]);
  const withWord = host({ decide: async () => ({ given: 'to-act', confirmed: 'y' }) });
  await recover([left], withWord.all);
  expect(withWord.intents.map(({ action }) => action)).toEqual([{ ...THIRD, confirmed: 'y' }]);
  expect(
    remainingPlan([...records, done({ ...THIRD, confirmed: 'y', seenGone: '29da79e5' })]),
  ).toBeUndefined();
});
