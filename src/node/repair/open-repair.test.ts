import { mkdirSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { INTENT, SyntheticRepair } from '../../../test/synthetic-repair.ts';
import { openRepair } from './open-repair.ts';

const scratch = mkdtempSync(join(tmpdir(), 'kubediag-open-'));
afterAll(() => rmSync(scratch, { recursive: true }));

async function open() {
  const { snapshot } = new SyntheticRepair().repair;
  const opened = await openRepair({ stateFolder: scratch, snapshot, permitted: new Set() });
  if (!opened.isOpen) throw new Error(opened.why);
  return opened;
}

test('a host only gets the entry point: neither the writer nor the journal', async () => {
  const opened = await open();
  expect(Object.keys(opened).toSorted()).toEqual(['close', 'isOpen', 'perform', 'settled']);
  expect(await opened.perform(INTENT)).toMatchObject({
    outcome: { state: 'refused', what: 'the action unmount is not permitted here' },
  });
  opened.close();
});

test('a closed repair stays closed: another process may hold the lock by now', async () => {
  const opened = await open();
  opened.close();
  expect(await opened.perform(INTENT)).toMatchObject({
    outcome: { state: 'refused', what: 'the repair is closed' },
  });
});

test('one at a time repairs a node', async () => {
  const first = await open();
  const { snapshot } = new SyntheticRepair().repair;
  const options = { stateFolder: scratch, snapshot, permitted: new Set([]) };
  expect(await openRepair(options)).toMatchObject({ isOpen: false });
  first.close();
  (await open()).close();
});

test('a journal that cannot be read opens nothing, and leaves no lock behind', async () => {
  const stateFolder = join(scratch, 'other');
  const journal = join(stateFolder, 'journal.jsonl');
  mkdirSync(journal, { recursive: true, mode: 0o700 });
  const { snapshot } = new SyntheticRepair().repair;
  const options = { stateFolder, snapshot, permitted: new Set([]) };
  expect(await openRepair(options)).toMatchObject({
    isOpen: false,
    why: 'is a directory',
  });
  rmdirSync(journal);
  const opened = await openRepair(options);
  if (!opened.isOpen) throw new Error(opened.why);
  opened.close();
});
