import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { BEHAVIOURS } from './behaviour.ts';
import { removeLogs } from './remove-logs.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kubediag-logs-'));
  symlinkSync('usr/bin', join(folder, 'bin'));
  writeFileSync(join(folder, '.hidden'), '');
  mkdirSync(join(folder, 'afs'));
  mkdirSync(join(folder, 'boot/grub'), { recursive: true });
  symlinkSync('usr/sbin', join(folder, 'sbin'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const [old, current] = [BEHAVIOURS['v1.18.8'], BEHAVIOURS['v1.36.3']];
const allow = () => {};

test('a pattern removes names in byte order, up to the first that cannot be removed', () => {
  const failure = removeLogs(`${folder}/`, current, allow);
  expect(failure).toBe(`log "${folder}/boot": remove ${folder}/boot: directory not empty`);
  expect(readdirSync(folder).toSorted()).toEqual(['boot', 'sbin']);
});

test('a pattern removes only names that begin with the log path', () => {
  writeFileSync(join(folder, '0.log'), '');
  writeFileSync(join(folder, '0.log.20261115'), '');
  expect(removeLogs(join(folder, '0.log'), current, allow)).toBeUndefined();
  expect(readdirSync(folder).toSorted()).toEqual(['.hidden', 'afs', 'bin', 'boot', 'sbin']);
});

test('a pattern removes nothing if the guard throws', () => {
  const guard = () => {
    throw new Error('no practice node');
  };
  expect(() => removeLogs(`${folder}/`, current, guard)).toThrow('no practice node');
  expect(readdirSync(folder)).toContain('bin');
});

test('before 1.18.9 only the log file itself is removed, and a missing log is no error', () => {
  writeFileSync(join(folder, '0.log'), '');
  expect(removeLogs('', old, allow)).toBeUndefined();
  expect(removeLogs(join(folder, '0.log'), old, allow)).toBeUndefined();
  expect(removeLogs(join(folder, 'gone'), old, allow)).toBeUndefined();
  expect(readdirSync(folder)).toContain('bin');
  expect(readdirSync(folder)).not.toContain('0.log');
});
