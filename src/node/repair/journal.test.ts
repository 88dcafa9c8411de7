import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ACTION, INTENT } from '../../../test/synthetic-repair.ts';
import { thisProcess } from '../../lib/state/this-process.ts';
import { FileJournal } from './file-journal.ts';
import { readJournal } from './journal.ts';

let scratch = '';
let folder = '';

beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'kubediag-journal-'));
  folder = join(scratch, 'state/kubediag');
});
afterEach(() => rmSync(scratch, { recursive: true }));

const actor = { ...thisProcess(), pid: 812, user: 'ada', boot: 'b1' };
const now = () => new Date('2026-01-02T03:04:05Z');

function journal(bytesMax = 1_000_000): FileJournal {
  return new FileJournal({ folder, actor, now, bytesMax });
}

const path = () => join(folder, 'journal.jsonl');

test('an entry has its intent and its outcome, by whom, when and why', async () => {
  const entry = await journal().intend(INTENT);
  await journal().conclude(entry, INTENT, { state: 'done' });
  const shared = {
    entry: 1,
    at: '2026-01-02T03:04:05.000Z',
    boot: 'b1',
    by: { pid: 812, user: 'ada' },
    fault: 'stale-subpath-mount',
    finding: '3f9a1c',
    action: ACTION,
  };
  expect(readJournal(folder)).toEqual({
    records: [
      { ...shared, event: 'intended' },
      { ...shared, event: 'concluded', outcome: { state: 'done' } },
    ],
    unfinished: [],
    errors: [],
  });
  expect(await journal().intend(INTENT)).toBe(2);
});

test('nobody else may read it', async () => {
  await journal().intend(INTENT);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(path()).mode & 0o777).toBe(0o600);
});

test('a saved file is readable by root only, and no symlink is followed', async () => {
  const stored = await journal().keep('container-ca80.json', 'hunter2');
  expect(stored).toBe(join(folder, 'saved/container-ca80.json'));
  expect(readFileSync(stored, 'utf8')).toBe('hunter2');
  expect(statSync(stored).mode & 0o777).toBe(0o600);
  expect(statSync(join(folder, 'saved')).mode & 0o777).toBe(0o700);
  symlinkSync(join(scratch, 'elsewhere'), join(folder, 'saved/container-f1.json'));
  const instead = await journal().keep('container-f1.json', 'x');
  expect(lstatSync(instead).isFile()).toBe(true);
  expect(existsSync(join(scratch, 'elsewhere'))).toBe(false);
  await expect(journal().keep('../x.json', 'x')).rejects.toThrow('no name of a file');
});

test('a node where nothing was ever done has an empty journal', () => {
  expect(readJournal(folder)).toEqual({ records: [], unfinished: [], errors: [] });
});

test('reports a line torn by a crash, which hides neither earlier nor later lines', async () => {
  await journal().intend(INTENT);
  const whole = readFileSync(path(), 'utf8');
  appendFileSync(path(), whole.slice(0, 40));
  expect(readJournal(folder).unfinished).toHaveLength(1);
  expect(await journal().intend(INTENT)).toBe(2);
  const { records, errors } = readJournal(folder);
  expect(records.map(({ entry }) => entry)).toEqual([1, 2]);
  expect(errors).toEqual([`journal.jsonl:2 is not a record: ${whole.slice(0, 40)}`]);
});

test('every prefix of a journal can be read and written on', async () => {
  await journal().intend(INTENT);
  await journal().conclude(1, INTENT, { state: 'done' });
  const whole = readFileSync(path());
  for (let bytes = 0; bytes <= whole.length; bytes += 37) {
    writeFileSync(path(), whole.subarray(0, bytes));
    const before = readJournal(folder).records.length;
    await journal().intend(INTENT);
    expect(readJournal(folder).records).toHaveLength(before + 1);
  }
});

test.each([
  'not JSON',
  '[]',
  'null',
  '{"entry":"1"}',
  '{"entry":1,"at":"x","event":"done"}',
  '\u0000\u0000\u0000',
])('a foreign line is reported, and is not fatal: %s', async (line) => {
  await journal().intend(INTENT);
  appendFileSync(path(), `${line}\n`);
  const { records, errors } = readJournal(folder);
  expect(records).toHaveLength(1);
  expect(errors).toEqual([`journal.jsonl:2 is not a record: ${line}`]);
});

test('the actions that are to follow are in the journal', async () => {
  await journal().intend({ ...INTENT, rest: [ACTION] });
  expect(readJournal(folder).records).toMatchObject([{ entry: 1, rest: [ACTION] }]);
});

test('a full journal without an unfinished intent begins empty', async () => {
  const small = journal(400);
  await small.conclude(await small.intend(INTENT), INTENT, { state: 'done' });
  expect(await small.intend(INTENT)).toBe(2);
  const { records, errors } = readJournal(folder);
  expect(records.map(({ entry, event }) => `${entry} ${event}`)).toEqual([
    '1 intended',
    '1 concluded',
    '2 intended',
  ]);
  expect(errors).toEqual([]);
});

test.each([
  { entry: 'x' },
  { entry: 2.5 },
  { event: 'done' },
  { at: 5 },
  { action: { kind: 'remove-empty-directory', podUid: 'p', plugin: 'x' } },
  { action: { kind: 'unmount', id: '216' } },
  { action: { ...ACTION, confirmed: 5 } },
  { action: { ...ACTION, confirmed: ['pod'] } },
  { rest: [{ kind: 'set-aside' }] },
  { rest: [{ ...ACTION, confirmed: null }] },
  { outcome: { state: 'failed' } },
])('a record with an incomplete part is reported, and is not fatal: %j', async (part) => {
  await journal().intend(INTENT);
  const [record] = readJournal(folder).records;
  appendFileSync(path(), `${JSON.stringify({ ...record, entry: 2, ...part })}\n`);
  const { records, errors } = readJournal(folder);
  expect(records).toHaveLength(1);
  expect(errors).toEqual([expect.stringContaining('journal.jsonl:2 is not a record: ')]);
});

test('the name that a person confirmed is read', async () => {
  const action = { ...ACTION, confirmed: 'settings' };
  await journal().intend({ ...INTENT, action });
  expect(readJournal(folder)).toMatchObject({ records: [{ action }], errors: [] });
});

test('an action of a kind that this version does not know is read as it is', async () => {
  await journal().intend(INTENT);
  const [record] = readJournal(folder).records;
  appendFileSync(path(), `${JSON.stringify({ ...record, entry: 2, action: { kind: 'new' } })}\n`);
  expect(readJournal(folder)).toMatchObject({ records: { length: 2 }, errors: [] });
});

test('a full journal begins again, and no unfinished intent is ever lost', async () => {
  const small = journal(2_000);
  expect(await small.intend(INTENT)).toBe(1); // Never concluded.
  for (let entry = 2; entry < 40; entry += 1) {
    expect(await small.intend(INTENT)).toBe(entry);
    await small.conclude(entry, INTENT, { state: 'done' });
    expect(readJournal(folder).unfinished.map((record) => record.entry)).toEqual([1]);
  }
  expect(readdirSync(folder).toSorted()).toEqual(['journal.1.jsonl', 'journal.jsonl']);
  expect(statSync(path()).size).toBeLessThan(4_000);
  await small.conclude(1, INTENT, { state: 'done' });
  expect(readJournal(folder).unfinished).toEqual([]);
});

test('a turn to a new file that was killed half-way loses nothing', async () => {
  const small = journal(400);
  await small.intend(INTENT);
  await small.intend(INTENT);
  // As between the two renames: what is carried over has its content, and not yet its name.
  expect(readdirSync(folder).toSorted()).toEqual(['journal.1.jsonl', 'journal.jsonl']);
  rmSync(join(folder, 'journal.1.jsonl'));
  renameSync(path(), join(folder, 'journal.next.jsonl'));
  expect(readJournal(folder).unfinished.map(({ entry }) => entry)).toEqual([1, 2]);
  await small.conclude(1, INTENT, { state: 'done' });
  expect(readJournal(folder).unfinished.map(({ entry }) => entry)).toEqual([2]);
  expect(await small.intend(INTENT)).toBe(3);
  expect(readJournal(folder).unfinished.map(({ entry }) => entry)).toEqual([2, 3]);
});

test('a turn that was killed before it began is begun again', async () => {
  const small = journal(400);
  await small.intend(INTENT);
  writeFileSync(join(folder, 'journal.next.jsonl'), 'half');
  expect(await small.intend(INTENT)).toBe(2);
  const { unfinished, errors } = readJournal(folder);
  expect(unfinished.map(({ entry }) => entry)).toEqual([1, 2]);
  expect(errors).toEqual([]);
});

test('a directory that others can write to is not used', async () => {
  await journal().intend(INTENT);
  chmodSync(folder, 0o777);
  await expect(journal().intend(INTENT)).rejects.toThrow('others than its owner can write to');
});

test('a journal that is a link to somewhere else is not followed', async () => {
  await journal().intend(INTENT);
  rmSync(path());
  symlinkSync('/dev/null', path());
  await expect(journal().intend(INTENT)).rejects.toThrow('ELOOP');
});

test('a pod of which something was taken was seen to be gone, in this boot', async () => {
  const podUid = '0b5cf1de-9f0e-4c9c-a4d3-2d1f0e3f7a11';
  const action = { kind: 'set-aside', podUid, volume: 'pvc-7', inode: '12' } as const;
  const { finding } = INTENT;
  expect(journal().hasSeenGone(podUid, finding)).toBe(false);
  await journal().intend({ ...INTENT, action });
  expect(journal().hasSeenGone(podUid, finding)).toBe(true);
  expect(journal().hasSeenGone(podUid, 'another')).toBe(true);
  expect(journal().hasSeenGone('another', finding)).toBe(false);
  const later = new FileJournal({ folder, actor: { ...actor, boot: 'b2' } });
  expect(later.hasSeenGone(podUid, finding)).toBe(false);
});

test.each([
  ['confirmed by a person', { confirmed: '0b5cf1de-9f0e-4c9c-a4d3-2d1f0e3f7a11' }],
  ['not seen again', { seenGone: '0b5cf1de-9f0e-4c9c-a4d3-2d1f0e3f7a11' }],
])('what was %s holds for one finding', async (_, word) => {
  const podUid = '0b5cf1de-9f0e-4c9c-a4d3-2d1f0e3f7a11';
  const action = { kind: 'set-aside', podUid, volume: 'pvc-7', inode: '12', ...word } as const;
  await journal().intend({ ...INTENT, action });
  expect(journal().hasSeenGone(podUid, INTENT.finding)).toBe(true);
  expect(journal().hasSeenGone(podUid, 'another')).toBe(false);
});

test('leftovers that were removed say nothing of their pod, which may live', async () => {
  const podUid = '0b5cf1de-9f0e-4c9c-a4d3-2d1f0e3f7a11';
  const plugin = 'kubernetes.io~empty-dir';
  const action = { kind: 'remove-empty-directory', podUid, plugin, leftovers: ['12 a'] } as const;
  await journal().intend({ ...INTENT, action });
  expect(journal().hasSeenGone(podUid, INTENT.finding)).toBe(false);
});

test('the actions of the last hour are counted over restarts, with those of a clock that was ahead', async () => {
  const at = (time: string) =>
    new FileJournal({ folder, actor: { ...actor, boot: time }, now: () => new Date(time) });
  expect(await at('2026-01-02T03:04:05Z').actionsInLastHour()).toBe(0);
  for (const time of ['T02:04:05', 'T02:04:06', 'T03:00:00', 'T09:00:00']) {
    const entry = await at(`2026-01-02${time}Z`).intend(INTENT);
    await at(`2026-01-02${time}Z`).conclude(entry, INTENT, { state: 'done' });
  }
  expect(await at('2026-01-02T03:04:05Z').actionsInLastHour()).toBe(3);
});
