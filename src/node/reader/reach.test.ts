import { expect, test } from 'vitest';
import { liesOn, reachOf } from './reach.ts';

test.each([
  ['table', 'file', '/proc/812/mountinfo'],
  ['table', 'file', '/proc/sys/kernel/osrelease'],
  ['table', 'file', '/proc/812/task/813/syscall'],
  ['table', 'folder', '/proc'],
  ['table', 'folder', '/proc/812/fd'],
  ['table', 'link', '/proc/812/fd/3'],
  ['table', 'link', '/proc/812/ns/mnt'],
  ['table', 'link', '/proc/812/cwd'],
  ['table', 'status', '/proc/812/root'],
  ['memory', 'file', '/proc/812/cmdline'],
  ['memory', 'file', '/proc/812/task/813/environ'],
  ['memory', 'file', '/proc/812/smaps_rollup'],
  // Whatever is followed out of /proc can hang as any path can.
  ['path', 'file', '/proc/812/exe'],
  ['path', 'file', '/proc/812/fd/3'],
  ['path', 'folder', '/proc/812/root'],
  ['path', 'status', '/proc/812/root/etc'],
  ['path', 'link', '/proc/812/task/813/cwd/link'],
  ['path', 'status', '/var/lib/kubelet/pods'],
  ['path', 'status', '/processes'],
  ['path', 'runtime', '/run/crio/crio.sock'],
] as const)('%s: %s %s', (reach, kind, place) => {
  expect(reachOf(kind, place)).toBe(reach);
});

test('what lies below a hung path would hang too, and its neighbours would not', () => {
  expect(liesOn('/mnt/hung', '/mnt/hung')).toBe(true);
  expect(liesOn('/mnt/hung/below', '/mnt/hung')).toBe(true);
  expect(liesOn('/mnt/hung2', '/mnt/hung')).toBe(false);
  expect(liesOn('/mnt', '/mnt/hung')).toBe(false);
});
