import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ReadError } from '../model/node-reader.ts';
import { inotifyInstances } from './answer-inotify.ts';

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'kubediag-inotify-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function addProcess(pid: number, parent: number, watches: number): void {
  const folder = join(root, 'proc', `${pid}`);
  for (const name of ['fd', 'fdinfo', 'ns']) mkdirSync(join(folder, name), { recursive: true });
  symlinkSync('anon_inode:inotify', join(folder, 'fd', '5'));
  symlinkSync('user:[4026531837]', join(folder, 'ns', 'user'));
  const status = `Name:\tapp\nPPid:\t${parent}\nUid:\t1000\t0\t0\t0\n`;
  writeFileSync(join(folder, 'status'), status);
  const lines = Array.from({ length: watches }, (_, at) => `inotify wd:${at} ino:2a8f mask:2\n`);
  writeFileSync(join(folder, 'fdinfo', '5'), `pos:\t0\nflags:\t02\n${lines.join('')}`);
}

test('watches of more than one chunk are counted, and once where a child inherited them', () => {
  addProcess(7, 1, 9000);
  addProcess(8, 7, 9000);
  addProcess(9, 7, 9001);
  const seen = inotifyInstances(root).map(({ pid, watches }) => [pid, watches]);
  expect(seen).toEqual([
    [7, 9000],
    [9, 9001],
  ]);
});

test('the effective user is the one that the kernel charges', () => {
  addProcess(7, 1, 1);
  expect(inotifyInstances(root)).toMatchObject([{ user: 0 }]);
});

test('more than the limit of bytes, in all instances together, is too large', () => {
  addProcess(7, 1, 10);
  addProcess(8, 1, 10);
  expect(inotifyInstances(root, 1000)).toHaveLength(2);
  expect(() => inotifyInstances(root, 500)).toThrow(ReadError);
  expect(() => inotifyInstances(root, 500)).toThrow(/too many inotify watches/);
});
