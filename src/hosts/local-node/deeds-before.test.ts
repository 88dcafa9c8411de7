import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { INTENT, MadeHands } from '../../../test/made-hands.ts';
import { thisProcess } from '../../lib/state/this-process.ts';
import { FileJournal } from '../../node/repair/file-journal.ts';
import { openHands } from '../../node/repair/open-hands.ts';
import { deedsBefore } from './deeds-before.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kubediag-deeds-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const STEP = 'a5b0e2c6-0000-4000-8000-000000000000/4';
const journal = () => new FileJournal({ folder, actor: thisProcess() });
const unneeded = () => Promise.reject(new Error('nothing is open'));

test('what was done for a step is known to its next attempt, and to no other', async () => {
  const intent = { ...INTENT, purpose: STEP };
  expect(await deedsBefore(folder, STEP, unneeded)).toEqual({ isKnown: true, done: [] });
  const refused = await journal().intend(intent);
  const trouble = { what: 'a', why: 'b', todo: 'c' };
  await journal().conclude(refused, intent, { state: 'no-effect', ...trouble });
  await journal().conclude(await journal().intend(INTENT), INTENT, { state: 'done' });
  expect(await deedsBefore(folder, STEP, unneeded)).toEqual({ isKnown: true, done: [] });
  await journal().conclude(await journal().intend(intent), intent, { state: 'done' });
  expect(await deedsBefore(folder, STEP, unneeded)).toMatchObject({
    isKnown: true,
    done: [{ entry: 3, purpose: STEP, finding: INTENT.finding, outcome: { state: 'done' } }],
  });
  expect(await deedsBefore(folder, `${STEP}0`, unneeded)).toEqual({ isKnown: true, done: [] });
});

test('what a crash left open is settled by a look, and then known', async () => {
  const made = new MadeHands();
  await journal().intend({ ...INTENT, purpose: STEP });
  // It was unmounted, and then we were killed.
  made.lines = made.lines.filter((line) => !line.includes('//deleted'));
  const { look } = made.hands;
  const open = () => openHands({ stateFolder: folder, look, permitted: new Set() });
  expect(await deedsBefore(folder, STEP, open)).toMatchObject({
    isKnown: true,
    done: [{ entry: 1, outcome: { state: 'done' } }],
  });
  expect(made.log).toEqual([]);
});

test('what came to nothing was not done', async () => {
  const { look } = new MadeHands().hands;
  await journal().intend({ ...INTENT, purpose: STEP });
  const open = () => openHands({ stateFolder: folder, look, permitted: new Set() });
  expect(await deedsBefore(folder, STEP, open)).toEqual({ isKnown: true, done: [] });
});
