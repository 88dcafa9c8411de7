import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  type linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { refuseExisting, writeNewFile } from './write-new-file.ts';

let scratch = '';
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'kubediag-new-file-'));
});
afterEach(() => rmSync(scratch, { recursive: true }));

const at = (name: string) => join(scratch, name);
const BYTES = Buffer.from([0, 1, 255, 10]);

test('a new file is complete, readable only by this user, and leaves no temporary file', () => {
  const large = Buffer.alloc(3_000_000, 7);
  writeNewFile(at('new'), large);
  expect(readFileSync(at('new')).equals(large)).toBe(true);
  expect(statSync(at('new')).mode & 0o777).toBe(0o600);
  expect(statSync(at('new')).nlink).toBe(1);
  expect(readdirSync(scratch)).toEqual(['new']);
});

/** Objects that another user with write access to the directory can create at the path. */
const PLANTED: readonly (readonly [string, (path: string) => void])[] = [
  ['a file of theirs', (path) => writeFileSync(path, 'theirs')],
  [
    'a file that all can write',
    (path) => {
      writeFileSync(path, 'theirs');
      chmodSync(path, 0o666);
    },
  ],
  [
    'a link to a file',
    (path) => {
      writeFileSync(at('target'), 'theirs');
      symlinkSync(at('target'), path);
    },
  ],
  ['a link to where no file is', (path) => symlinkSync(at('target'), path)],
  ['a pipe', (path) => expect(spawnSync('mkfifo', [path]).status).toBe(0)],
  ['a directory', (path) => mkdirSync(path)],
  ['a link to a device', (path) => symlinkSync('/dev/full', path)],
];

/** The errors of FAT, and of a FUSE filesystem without link(2). */
const NO_LINKS = ['EPERM', 'ENOSYS'];

function noLinks(code: string): () => never {
  return () => {
    throw Object.assign(new Error(code), { code });
  };
}

test.each(NO_LINKS)('on a filesystem without hard links (%s) it is the same', (code) => {
  writeNewFile(at('new'), BYTES, noLinks(code));
  expect(readFileSync(at('new')).equals(BYTES)).toBe(true);
  expect(statSync(at('new')).mode & 0o777).toBe(0o600);
  expect(readdirSync(scratch)).toEqual(['new']);
});

test('any other error of link(2) is reported, and leaves no file', () => {
  expect(() => writeNewFile(at('new'), BYTES, noLinks('EROFS'))).toThrow('EROFS');
  expect(readdirSync(scratch)).toEqual([]);
});

const LINKS: readonly (readonly [string, typeof linkSync | undefined])[] = [
  ['with hard links', undefined],
  ['without hard links', noLinks('EPERM')],
];
const PLACES = PLANTED.flatMap(([what, plant]) =>
  LINKS.map(([where, link]) => ({ what, where, plant, link })),
);

test.each(PLACES)('$what in its place stays as it is, $where', ({ what, plant, link }) => {
  plant(at('planted'));
  const before = readdirSync(scratch);
  const why = what === 'a directory' ? 'it is a directory' : 'the file exists';
  expect(() => refuseExisting(at('planted'))).toThrow(why);
  expect(() => writeNewFile(at('planted'), BYTES, link)).toThrow(why);
  expect(readdirSync(scratch)).toEqual(before);
  const status = lstatSync(at('planted'));
  if (status.isFile()) expect(readFileSync(at('planted'), 'utf8')).toBe('theirs');
  if (status.isSymbolicLink() && readlinkSync(at('planted')).startsWith('/dev')) return;
  if (before.includes('target')) expect(readFileSync(at('target'), 'utf8')).toBe('theirs');
});

test('a failed write leaves no file', () => {
  expect(() => writeNewFile(at('none/new'), BYTES)).toThrow('ENOENT');
  expect(readdirSync(scratch)).toEqual([]);
});
