import { expect, test } from 'vitest';
import { UsageError } from '../../../lib/terminal/terminal.ts';
import { durationMs, podName, stateFolderOf } from './options.ts';

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

test.each(['', '0', '-1', '2h', '61m', '1e3', 'NaN'])('"%s" is no time', (text) => {
  expect(() => durationMs('--timeout', text)).toThrow(UsageError);
});

test('a longer time where it is asked for', () => {
  expect(durationMs('--repeat-interval', '6h', '240h')).toBe(21_600_000);
  expect(() => durationMs('--repeat-interval', '241h', '240h')).toThrow(
    'up to 240h, such as 30s or 2m: "241h"',
  );
});

test('a pod is named with its namespace', () => {
  expect(podName('default/web')).toEqual({ namespace: 'default', name: 'web' });
  for (const text of ['web', '/web', 'a/b/c', '']) expect(() => podName(text)).toThrow(UsageError);
});
