import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { fixtureAt } from '../../../test/fault-fixtures.ts';
import { hostOn } from '../../../test/synthetic-host.ts';
import { kubeletNotRunning } from '../faults/kubelet-not-running/fault.ts';
import { staleSubpathMount } from '../faults/stale-subpath-mount/fault.ts';
import { ReadError } from '../model/node-reader.ts';
import { RecordedNode } from '../recording/recorded-node.ts';
import { replayCheck } from './replay.ts';
import { runCheck, WaitsShown, waitText } from './run-check.ts';
import { takeSnapshot } from './take-snapshot.ts';

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

describe('a check', () => {
  const asked = { faults: [kubeletNotRunning], settings: {}, timeoutMs: 5_000 };

  function listener() {
    const progress: string[] = [];
    const details: string[] = [];
    return {
      progress: (text: string) => void progress.push(text),
      detail: (text: () => string) => void details.push(text()),
      reported: { progress, details },
    };
  }

  test('ends at its time limit, and leaves no timer', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const never = Promise.withResolvers<never>();
    never.promise.catch(() => {});
    const node = {
      now: () => new Date(0),
      ask: () => never.promise,
      longestWait: undefined,
      endCheck: (why: string) => never.reject(new ReadError('not-asked', '/proc', why)),
    };
    const heard = listener();
    const checking = runCheck(node, asked, heard);
    await vi.advanceTimersByTimeAsync(5_000);
    const { report } = await checking;
    expect(report.faults[0]).toMatchObject({
      verdict: 'unknown',
      reason: expect.stringContaining('the time limit of 5 s (--timeout) was reached'),
    });
    expect(vi.getTimerCount()).toBe(0);
    expect(heard.reported.progress[0]).toMatch(/^reading: /);
    expect(heard.reported.progress.at(-1)).toBe('');
    expect(heard.reported.details).toContainEqual(
      expect.stringMatching(/^asked .*: the time limit of 5 s \(--timeout\) was reached\n$/),
    );
  });

  test('that never ends leaves no timer either, so that the process can exit', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const hanging = { now: () => new Date(0), ask: () => new Promise<never>(() => {}) };
    const node = { ...hanging, longestWait: undefined, endCheck: () => {} };
    void runCheck(node, asked, listener());
    await vi.advanceTimersByTimeAsync(5_000);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('records what it read, and can judge it again as it would be after a change', async () => {
    const { node } = hostOn(await nodeAt('stale-subpath-mount/broken-configmap'));
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const settings = {};
    const heard = listener();
    const checked = await runCheck(
      node,
      { ...asked, faults: [staleSubpathMount], settings },
      heard,
    );
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
    expect(checked.judged[0]?.verdict.state).toBe('found');
    expect(heard.reported.details).toHaveLength(checked.recording.answers.size);
    const bundle = { recording: checked.recording, madeBy: '', tookMs: 0, settings };
    const replayed = await replayCheck(bundle, [staleSubpathMount]);
    expect(replayed.faults).toEqual(checked.report.faults);
    const healthy = await nodeAt('stale-subpath-mount/healthy-without-credentials');
    const [after] = await checked.judgeAgain(() => takeSnapshot(healthy));
    expect(after?.verdict.state).toBe('clear');
  });
});

async function nodeAt(path: string): Promise<RecordedNode> {
  return new RecordedNode((await fixtureAt(path)).recording);
}
