import { existsSync, mkdirSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { INTENT, SyntheticRepair } from '../../../test/synthetic-repair.ts';
import { DISK_MS } from '../../lib/state/limits.ts';
import { thisProcess } from '../../lib/state/this-process.ts';
import type { Snapshot } from '../model/evidence.ts';
import { FileJournal } from './file-journal.ts';
import { readJournal } from './journal.ts';
import { settleMs } from './limits.ts';
import { openRepair, type RepairOptions } from './open-repair.ts';

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

const isOpenOn = async (options: RepairOptions) => {
  const opened = await openRepair(options);
  if (opened.isOpen) opened.close();
  return opened.isOpen;
};

/** Opens a repair, and lets this time pass when something has happened. */
async function openLate(options: RepairOptions, ms: number, happened?: Promise<void>) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const opening = openRepair(options);
    await happened;
    vi.advanceTimersByTime(ms);
    return await opening;
  } finally {
    vi.useRealTimers();
  }
}

test('a lock that is taken after the time limit is released', async () => {
  const { snapshot } = new SyntheticRepair().repair;
  const options = { stateFolder: join(scratch, 'slow'), snapshot, permitted: new Set([]) };
  expect(await openLate(options, DISK_MS)).toMatchObject({ isOpen: false, why: /did not answer/ });
  await expect.poll(() => existsSync(join(options.stateFolder, 'holder'))).toBe(true);
  await expect.poll(() => isOpenOn(options)).toBe(true);
});

test('a defect while the actions of a crash are settled leaves no lock behind', async () => {
  const { snapshot } = new SyntheticRepair().repair;
  const options = { stateFolder: join(scratch, 'defect'), permitted: new Set([]) };
  const broken = () => {
    throw new TypeError('some defect');
  };
  await expect(openRepair({ ...options, snapshot: broken })).rejects.toThrow('some defect');
  expect(await isOpenOn({ ...options, snapshot })).toBe(true);
});

test('nobody else repairs while the actions of a crash are still being settled', async () => {
  const { snapshot } = new SyntheticRepair().repair;
  const stateFolder = join(scratch, 'settling');
  const options = { stateFolder, snapshot, permitted: new Set([]) };
  await new FileJournal({ folder: stateFolder, actor: thisProcess() }).intend(INTENT);
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow = (): Snapshot => {
    asked.resolve();
    const real = snapshot();
    return { ...real, of: (evidence) => answered.promise.then(() => real.of(evidence)) };
  };
  const late = await openLate({ ...options, snapshot: slow }, settleMs, asked.promise);
  expect(late).toMatchObject({ isOpen: false, why: /did not answer/ });
  expect(await openRepair(options)).toMatchObject({ isOpen: false, what: /^another recovery/ });
  answered.resolve();
  await expect.poll(() => isOpenOn(options)).toBe(true);
  expect(readJournal(stateFolder).unfinished).toEqual([]);
});
