import {
  chownSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { prepareFolder, tried } from './state-folder.ts';

const NOBODY = 65_534;

let scratch = '';
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'kubediag-path-'));
});
afterEach(() => rmSync(scratch, { recursive: true }));

test('a state directory below a directory of another user is refused, and nothing is made there', async () => {
  const theirs = join(scratch, 'theirs');
  mkdirSync(theirs);
  chownSync(theirs, NOBODY, NOBODY);
  expect(await tried(prepareFolder(join(theirs, 'a/state')))).toEqual({
    ok: false,
    why: `${theirs} belongs to user ${NOBODY}, who could put another directory in its place`,
    todo: 'choose another --state-dir',
  });
  expect(readdirSync(theirs)).toEqual([]);
});

test('a state directory of our own below a directory of another user is refused', async () => {
  const state = join(scratch, 'theirs/state');
  mkdirSync(state, { recursive: true, mode: 0o700 });
  chownSync(join(scratch, 'theirs'), NOBODY, NOBODY);
  expect(await tried(prepareFolder(state))).toMatchObject({ ok: false });
});

test('a state directory behind a link of another user is refused', async () => {
  const link = join(scratch, 'link');
  mkdirSync(join(scratch, 'ours'));
  symlinkSync('ours', link);
  lchownSync(link, NOBODY, NOBODY);
  expect(await tried(prepareFolder(join(link, 'state')))).toEqual({
    ok: false,
    why: `${link} is a symbolic link of user ${NOBODY}, who could put another directory in its place`,
    todo: 'choose another --state-dir',
  });
});
