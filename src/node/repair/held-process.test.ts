import { spawn } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { startTimeOf } from '../../lib/std/start-time-of.ts';
import { holdProcess, letGo, pathIn, THEIR_ROOT, whyNotSame } from './held-process.ts';

const startTime = String(startTimeOf(readFileSync('/proc/self/stat', 'utf8')));
const hold = (pins: { readonly pid: number; readonly startTime?: string }) =>
  holdProcess(`/proc/${pins.pid}`, pins);

test('a process is held by its mount namespace and its root directory', () => {
  const held = hold({ pid: process.pid, startTime });
  if (!held.ok) throw new Error(held.why);
  const { namespace, root, isOurView } = held.value;
  expect(statSync(`/proc/self/fd/${namespace}`).ino).toBe(statSync('/proc/self/ns/mnt').ino);
  expect(statSync(`/proc/self/fd/${root}/`).ino).toBe(statSync('/').ino);
  expect(isOurView).toBe(true);
  expect(pathIn(held.value, '/etc')).toBe('/etc');
  expect(pathIn({ ...held.value, isOurView: false }, '/etc')).toBe(`${THEIR_ROOT}/etc`);
  expect(whyNotSame(held.value)).toBeUndefined();
  letGo(held.value);
});

test('a process with the same pid and another start time is not', () => {
  const other = hold({ pid: process.pid, startTime: '1' });
  expect(other).toEqual({ ok: false, why: expect.stringContaining('another one now') });
});

test('a process that has ended is held no longer', async () => {
  const child = spawn('sleep', ['600'], { stdio: 'ignore' });
  const held = hold({ pid: child.pid ?? 0 });
  if (!held.ok) throw new Error(held.why);
  child.kill('SIGKILL');
  await new Promise((resolve) => child.once('exit', resolve));
  expect(whyNotSame(held.value)).toContain('has ended');
  letGo(held.value);
  expect(hold({ pid: child.pid ?? 0 })).toEqual({
    ok: false,
    why: expect.stringContaining('cannot be opened: ENOENT'),
  });
});
