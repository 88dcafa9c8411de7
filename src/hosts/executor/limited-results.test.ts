import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { limitedResults } from './limited-results.ts';

const UIDS = [1, 2, 3].map((number) => `0f8fad5b-d9cb-469f-a165-70867728950${number}`);
const FILES = [1, 2, 3].map((number) => `9b74c9897bac770ffc029102a200c5d${number}`);

test('all results together have a limit of bytes and of files, which a removal makes free', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubediag-results-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [one = '', two = '', three = ''] = UIDS;
  const [first = '', second = ''] = FILES;
  const results = limitedResults(join(folder, 'results'), 100, 3);
  expect(await results.store(one, first, 'x'.repeat(60))).toMatchObject({ ok: true });
  const full = { ok: false, why: expect.stringContaining('1 file of 60 bytes') };
  expect(await results.store(two, first, 'x'.repeat(41))).toEqual(full);
  const both = [
    results.store(two, first, 'x'.repeat(30)),
    results.store(two, second, '12345678901'),
  ];
  expect((await Promise.all(both)).map(({ ok }) => ok)).toEqual([true, false]);
  await results.remove(one);
  expect(await results.store(two, second, 'y')).toMatchObject({ ok: true });
  expect(await results.store(three, first, 'y')).toMatchObject({ ok: true });
  expect(await results.store(three, second, 'y')).toMatchObject({ ok: false });
  expect(await results.store(two, second, 'z')).toMatchObject({ ok: true });
  expect(await results.read(two, second)).toEqual({ ok: true, value: 'z' });
});

test('nothing is stored while results of deleted Diagnoses are removed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubediag-results-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const results = limitedResults(folder);
  const [one = '', file = ''] = [UIDS[0], FILES[0]];
  for (let at = 100; at < 200; at += 1) mkdirSync(join(folder, `${one.slice(0, -3)}${at}`));
  const ended: string[] = [];
  await Promise.all([
    results.retain(new Set()).then(() => ended.push('removed')),
    results.store(one, file, 'new').then(() => ended.push('stored')),
  ]);
  expect(ended).toEqual(['removed', 'stored']);
  expect(readdirSync(folder)).toEqual([one]);
});
