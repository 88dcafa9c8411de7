import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { INTENT, SyntheticRepair } from '../../../test/synthetic-repair.ts';
import { thisProcess } from '../../lib/state/this-process.ts';
import { FileJournal } from '../../node/repair/file-journal.ts';
import { openRepair } from '../../node/repair/open-repair.ts';
import { earlierActions } from './earlier-actions.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kubediag-actions-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const STEP = 'a5b0e2c6-0000-4000-8000-000000000000/4';
const journal = () => new FileJournal({ folder, actor: thisProcess() });
const unneeded = () => Promise.reject(new Error('nothing is open'));

test('only the next attempt of the same step knows the earlier actions', async () => {
  const intent = { ...INTENT, purpose: STEP };
  expect(await earlierActions(folder, STEP, unneeded)).toEqual({ isKnown: true, done: [] });
  const refused = await journal().intend(intent);
  const failure = { what: 'a', why: 'b', todo: 'c' };
  await journal().conclude(refused, intent, { state: 'no-effect', ...failure });
  await journal().conclude(await journal().intend(INTENT), INTENT, { state: 'done' });
  expect(await earlierActions(folder, STEP, unneeded)).toEqual({ isKnown: true, done: [] });
  await journal().conclude(await journal().intend(intent), intent, { state: 'done' });
  expect(await earlierActions(folder, STEP, unneeded)).toMatchObject({
    isKnown: true,
    done: [{ entry: 3, purpose: STEP, finding: INTENT.finding, outcome: { state: 'done' } }],
  });
  expect(await earlierActions(folder, `${STEP}0`, unneeded)).toEqual({ isKnown: true, done: [] });
});

test('a check settles an action that a crash interrupted, and then it is known', async () => {
  const fixture = new SyntheticRepair();
  await journal().intend({ ...INTENT, purpose: STEP });
  // The crash came after the unmount.
  fixture.lines = fixture.lines.filter((line) => !line.includes('//deleted'));
  const { snapshot } = fixture.repair;
  const open = () => openRepair({ stateFolder: folder, snapshot, permitted: new Set() });
  expect(await earlierActions(folder, STEP, open)).toMatchObject({
    isKnown: true,
    done: [{ entry: 1, outcome: { state: 'done' } }],
  });
  expect(fixture.log).toEqual([]);
});

test('an action without effect does not count', async () => {
  const { snapshot } = new SyntheticRepair().repair;
  await journal().intend({ ...INTENT, purpose: STEP });
  const open = () => openRepair({ stateFolder: folder, snapshot, permitted: new Set() });
  expect(await earlierActions(folder, STEP, open)).toEqual({ isKnown: true, done: [] });
});
