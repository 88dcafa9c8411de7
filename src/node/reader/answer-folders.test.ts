import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { entriesIn, foldersIn, namesIn } from './answer-folders.ts';

/** Bytes that are no text: 0xff begins no character of UTF-8. */
const ODD = Buffer.from([0x61, 0xff]);
const ODD_NAME = 'a\udcff';

let folder = '';
const within = (name: Buffer) => Buffer.concat([Buffer.from(`${folder}/`), name]);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kubediag-folders-'));
});
const project = process.cwd();
afterEach(() => {
  // A reader stays in "/". Other test files run in this process afterwards.
  process.chdir(project);
  rmSync(folder, { recursive: true, force: true });
});

test('distinguishes names that are no text from those that only look like it', () => {
  const mark = 'a\ufffd';
  for (const name of ['plain', 'ü', mark]) writeFileSync(join(folder, name), '');
  writeFileSync(within(ODD), '');
  expect(namesIn(Buffer.from(folder)).toSorted()).toEqual(
    ['plain', 'ü', mark, ODD_NAME].toSorted(),
  );
});

test('a directory whose name is no text is walked through all the same', () => {
  mkdirSync(within(Buffer.concat([ODD, Buffer.from('/volumes/deep')])), { recursive: true });
  expect(foldersIn({ path: folder, levels: ['*', 'volumes'] }, '/')).toEqual([
    { folder: `${ODD_NAME}/volumes`, names: ['deep'] },
  ]);
});

test('entries are listed with their types, whatever their names', () => {
  mkdirSync(within(ODD));
  mkdirSync(join(folder, 'full/inner'), { recursive: true });
  const names = [ODD_NAME, 'full', 'gone'];
  expect(entriesIn({ path: folder, names }, '/')).toMatchObject([
    { name: ODD_NAME, status: { type: 'folder' }, isEmpty: true },
    { name: 'full', status: { type: 'folder' }, isEmpty: false },
    { name: 'gone', status: null, isEmpty: null },
  ]);
});
