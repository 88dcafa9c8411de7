import { expect, test } from 'vitest';
import { durationMs, podName, stateFolderOf } from './options.ts';
import { UsageError } from './usage-error.ts';

test.each([
  [{ hostRoot: '/' }, '/var/lib/kubediag'],
  [{ hostRoot: '/host/' }, '/host/var/lib/kubediag'],
  [{ hostRoot: '/proc/1/root' }, '/proc/1/root/var/lib/kubediag'],
  [{ hostRoot: '/host', stateDir: '/elsewhere' }, '/elsewhere'],
])('the journal of %j is on the node, unless the person says otherwise', (options, folder) => {
  expect(stateFolderOf(options)).toBe(folder);
});

test.each([
  ['30', 30_000],
  ['500ms', 500],
  ['1.5s', 1_500],
  ['2m', 120_000],
])('%s is %i ms', (text, ms) => {
  expect(durationMs('--timeout', text)).toBe(ms);
});

test.each(['', '0', '-1', '1h', '61m', '1e3', 'NaN'])('"%s" is no time', (text) => {
  expect(() => durationMs('--timeout', text)).toThrow(UsageError);
});

test('a pod is named with its namespace', () => {
  expect(podName('default/web')).toEqual({ namespace: 'default', name: 'web' });
  for (const text of ['web', '/web', 'a/b/c', '']) expect(() => podName(text)).toThrow(UsageError);
});
