import {
  chmodSync,
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  appendSynced,
  fieldsIn,
  prepareFolder,
  secretIfThere,
  textIfThere,
  tried,
  writeContent,
  writeSynced,
} from './state-folder.ts';

let scratch = '';
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'kubediag-state-'));
});
afterEach(() => rmSync(scratch, { recursive: true }));

test('a disk that hangs is reported within the time limit', async () => {
  const silent = new Promise<never>(() => {});
  expect(await tried(silent, 20)).toEqual({
    ok: false,
    why: 'the disk did not answer within 0.02 s',
    todo: 'see dmesg, and choose another --state-dir',
  });
});

test.each([
  ['an empty directory', undefined, /^chmod 700 /],
  ['a directory of ours', 'journal.jsonl', /^chmod 700 /],
  ['a directory that others use', 'their-file', /^choose another --state-dir$/],
])('%s that others can write to: the advice breaks nothing', async (_, name, todo) => {
  const path = join(scratch, 'shared-state');
  mkdirSync(path);
  chmodSync(path, 0o777);
  if (name !== undefined) writeFileSync(join(path, name), '');
  expect(await tried(prepareFolder(path))).toMatchObject({
    ok: false,
    todo: expect.stringMatching(todo),
  });
});

test('a disk error is returned, and a bug is thrown', async () => {
  const missing = appendSynced(join(scratch, 'nowhere/file'), 'line');
  expect(await tried(missing)).toMatchObject({
    ok: false,
    why: `${join(scratch, 'nowhere/file')}: no such file or directory`,
  });
  await expect(tried(Promise.reject(new TypeError('a bug')))).rejects.toThrow('a bug');
});

test('the directory is created for our account only, however deep', async () => {
  const folder = join(scratch, 'a/b/c');
  await prepareFolder(folder);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test.each([
  ['a directory that a group may write to', (path: string) => mkdirSync(path, { mode: 0o770 })],
  ['a link', (path: string) => symlinkSync(tmpdir(), path)],
])('%s is not taken for ours', async (_, make) => {
  const path = join(scratch, 'state');
  const mask = process.umask(0);
  make(path);
  process.umask(mask);
  expect(await tried(prepareFolder(path))).toMatchObject({ ok: false });
});

test('a directory below one that others can write to is refused, and nothing is made there', async () => {
  const shared = join(scratch, 'shared');
  mkdirSync(shared);
  chmodSync(shared, 0o777);
  expect(await tried(prepareFolder(join(shared, 'a/state')))).toEqual({
    ok: false,
    why: `${shared} can be written by others than its owner (mode 0777), who could replace what is in it`,
    todo: 'choose another --state-dir',
  });
  expect(readdirSync(shared)).toEqual([]);
  // Sticky, as /tmp: users cannot rename files of others.
  chmodSync(shared, 0o1777);
  expect(await tried(prepareFolder(join(shared, 'a/state')))).toMatchObject({ ok: true });
});

test('our own links in the path are followed, and their targets are checked', async () => {
  mkdirSync(join(scratch, 'real/inner'), { recursive: true });
  symlinkSync('real/inner', join(scratch, 'link'));
  symlinkSync('loop', join(scratch, 'loop'));
  const state = join(scratch, 'link/state');
  expect(await tried(prepareFolder(state))).toMatchObject({ ok: true });
  chmodSync(join(scratch, 'real'), 0o775);
  expect(await tried(prepareFolder(state))).toMatchObject({
    ok: false,
    why: expect.stringContaining(`${join(scratch, 'real')} can be written by others`),
  });
  expect(await tried(prepareFolder(join(scratch, 'loop/state')))).toMatchObject({
    ok: false,
    why: expect.stringContaining('too many symbolic links'),
  });
});

test('a file in the place of the directory is an answer', async () => {
  const path = join(scratch, 'state');
  writeFileSync(path, '');
  expect(await tried(prepareFolder(path))).toMatchObject({ ok: false });
});

test('a file that is larger than the limit is not read', () => {
  const path = join(scratch, 'file');
  writeFileSync(path, '0123456789');
  expect(textIfThere(path, 10)).toBe('0123456789');
  expect(() => textIfThere(path, 9)).toThrow('is larger than 9 bytes');
  expect(textIfThere(join(scratch, 'nowhere'), 9)).toBeUndefined();
});

test('a file has its old content until the new content is complete', async () => {
  const path = join(scratch, 'stored');
  await writeSynced(path, 'first');
  const before = openSync(path, 'r');
  // The leftover of a crash during an earlier write.
  writeFileSync(`${path}.new`, 'half of a much longer text');
  await writeSynced(path, 'second');
  expect(readFileSync(before, 'utf8')).toBe('first');
  closeSync(before);
  expect(readFileSync(path, 'utf8')).toBe('second');
  expect(readdirSync(scratch)).toEqual(['stored']);
});

test('a link in the place of the unfinished file is refused, and its target is not changed', async () => {
  const [path, target] = [join(scratch, 'stored'), join(scratch, 'target')];
  writeFileSync(path, 'first');
  writeFileSync(target, 'of somebody else');
  symlinkSync(target, `${path}.new`);
  await expect(writeSynced(path, 'second')).rejects.toMatchObject({ code: 'ELOOP' });
  expect(readFileSync(target, 'utf8')).toBe('of somebody else');
  expect(readFileSync(path, 'utf8')).toBe('first');
});

test.each([
  ['written', (path: string) => writeContent(path, 'text', constants.O_TRUNC)],
  ['appended', (path: string) => appendSynced(path, 'line')],
])('content that is %s is on disk, or it is an error', async (_, write) => {
  // The kernel accepts every write to this device, and refuses to sync it.
  const error = { code: 'EINVAL', syscall: 'fsync' };
  await expect(write('/dev/null')).rejects.toMatchObject(error);
});

test('a text that is no JSON object has no fields', () => {
  for (const text of ['', 'null', '7', '"text"', '{"a":']) expect(fieldsIn(text)).toEqual({});
});

test('a secret that other users can read is rejected', async () => {
  const path = join(scratch, 'token');
  expect(secretIfThere(path, 10)).toBeUndefined();
  await writeSynced(path, 'secret');
  expect(secretIfThere(path, 10)).toBe('secret');
  chmodSync(path, 0o640);
  expect(() => secretIfThere(path, 10)).toThrow('others than its owner can read');
  const link = join(scratch, 'link');
  symlinkSync(path, link);
  expect(() => secretIfThere(link, 10)).toThrow('is not a regular file');
});
