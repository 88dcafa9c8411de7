import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { leftoverName, rename, renameAsGo, tearDown } from './leftover.ts';

let folder: string;
let volume: string;
let target: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'leftover-'));
  [volume, target] = [join(folder, 'pvc-1'), join(folder, 'new')];
  for (const each of [volume, target]) mkdirSync(each);
  writeFileSync(join(volume, 'data'), 'all of it\n');
});
afterEach(() => rmSync(folder, { recursive: true }));

test('a program in Go refuses a directory that is there, which the kernel would replace', async () => {
  expect(await renameAsGo(volume, target)).toBe('EEXIST');
  expect(existsSync(join(volume, 'data'))).toBe(true);
  expect(await rename(volume, target)).toBeUndefined();
  expect(existsSync(join(target, 'data'))).toBe(true);
});

test('a directory with something in it the kernel refuses by itself', async () => {
  writeFileSync(join(target, 'data'), 'of another\n');
  // POSIX allows both error codes.
  expect(await rename(volume, target)).toMatch(/^(ENOTEMPTY|EEXIST)$/);
});

test('os.Rename of Go succeeds if the target does not exist', async () => {
  expect(await renameAsGo(volume, join(folder, 'free'))).toBeUndefined();
  expect(existsSync(join(folder, 'free', 'data'))).toBe(true);
});

test('each failed teardown leaves an empty directory, and an unexpected success is an error', async () => {
  await tearDown(volume, 3, renameAsGo);
  for (const index of [0, 1, 2]) expect(existsSync(leftoverName(volume, index))).toBe(true);
  for (const index of [0, 1, 2]) rmSync(leftoverName(volume, index), { recursive: true });
  await expect(tearDown(volume, 1, rename)).rejects.toThrow('was renamed, and should not have');
});
