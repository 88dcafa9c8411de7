import { expect, test, vi } from 'vitest';
import { WaitsShown, waitText } from './run-check.ts';

const VOLUME =
  '/proc/812/root/var/lib/kubelet/pods/29da79e5-386c-4e0d-82c1-215f93ff955d/volumes/kubernetes.io~nfs/share';

test.each([
  [VOLUME, 3_210, 6_000, 'waiting for …/volumes/kubernetes.io~nfs/share (3 of 6 s)'],
  ['/mnt/share', 1_000, 2_000, 'waiting for /mnt/share (1 of 2 s)'],
  ['CRI ListContainers', 7_100, 6_000, 'waiting for CRI ListContainers (6 of 6 s)'],
  [`/mnt/${'x'.repeat(80)}`, 0, 2_000, `waiting for …${'x'.repeat(47)} (0 of 2 s)`],
  ['/mnt/\x1b[2J', 0, 2_000, 'waiting for /mnt/\\x1b[2J (0 of 2 s)'],
])('%s', (source, waitedMs, limitMs, expected) => {
  const text = waitText({ source, waitedMs, limitMs });
  expect(text).toBe(expected);
  expect(text.length).toBeLessThan(80);
});

test('progress shows a long wait, and then the current step again', () => {
  vi.useFakeTimers();
  const reported: string[] = [];
  const node = {
    longestWait: undefined as { source: string; waitedMs: number; limitMs: number } | undefined,
  };
  const shown = new WaitsShown(node, (text) => reported.push(text));
  shown.doing('reading: Every process of the node');
  node.longestWait = { source: '/mnt/share', waitedMs: 400, limitMs: 2_000 };
  vi.advanceTimersByTime(500);
  node.longestWait = { source: '/mnt/share', waitedMs: 1_400, limitMs: 2_000 };
  vi.advanceTimersByTime(500);
  node.longestWait = undefined;
  vi.advanceTimersByTime(500);
  shown.end();
  vi.advanceTimersByTime(5_000);
  vi.useRealTimers();
  const doing = 'reading: Every process of the node';
  expect(reported).toEqual([doing, doing, 'waiting for /mnt/share (1 of 2 s)', doing, '']);
});
