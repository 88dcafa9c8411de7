import {
  chmodSync,
  chownSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { distrustOf } from './run.ts';

const NOBODY = 65_534;

let scratch = '';
beforeEach(() => {
  // /tmp is writable for all users, and sticky: they cannot replace files of root.
  scratch = mkdtempSync(join(tmpdir(), 'kubediag-program-'));
  mkdirSync(join(scratch, 'sbin'));
  writeFileSync(join(scratch, 'sbin/umount'), '', { mode: 0o755 });
  symlinkSync('sbin', join(scratch, 'bin'));
  symlinkSync('sbin/umount', join(scratch, 'link'));
});
afterEach(() => rmSync(scratch, { recursive: true, force: true }));

const distrusted = () =>
  ['bin/umount', 'link'].map((name) => distrustOf(join(scratch, name)) !== undefined);

test('a program that only root can change is trusted, also through a link', () => {
  expect(distrusted()).toEqual([false, false]);
});

test.each([
  ['the file may be written by all', () => chmodSync(join(scratch, 'sbin/umount'), 0o757)],
  ['the file is owned by another', () => chownSync(join(scratch, 'sbin/umount'), NOBODY, 0)],
  ['its directory may be written by all', () => chmodSync(join(scratch, 'sbin'), 0o777)],
  ['its directory is owned by another', () => chownSync(join(scratch, 'sbin'), NOBODY, 0)],
  ['a directory above may be written by all', () => chmodSync(scratch, 0o777)],
  [
    'a directory above may be written by a group',
    () => {
      chownSync(scratch, 0, NOBODY);
      chmodSync(scratch, 0o770);
    },
  ],
])('a program is not trusted when %s', (_, spoil) => {
  spoil();
  expect(distrusted()).toEqual([true, true]);
});

test('a link of another user is not trusted', () => {
  lchownSync(join(scratch, 'link'), NOBODY, 0);
  expect(distrusted()).toEqual([false, true]);
});
