import { describe, expect, test } from 'vitest';
import { type KubeletLog, kubeletLogOf } from '../../evidence/logs/log-entries.ts';
import { loopOf } from './loop.ts';

const NOT_READ = { known: false, why: 'nobody sent it' } as const;
const FIVE_DAYS = '0330 15:58:27';

const line = (time: string, text: string) => `I${time}.936114     812 kubelet.go:2012] ${text}`;
const housekeeping = (time: string) => line(time, 'SyncLoop (housekeeping)');
const complaint = (time: string) =>
  line(time, 'healthz check syncloop failed: sync Loop took longer than expected');
const skipped = (time: string) =>
  line(time, 'skipping pod synchronization - [container runtime is down]');
const other = (time: string) =>
  line(time, 'event channel is full, discard this relist() cycle event');

function logOf(...lines: readonly string[]): KubeletLog {
  const now = new Date('2026-04-04T16:40:00Z');
  return kubeletLogOf(lines.map((each) => `${each}\n`).join(''), 'kubelet.log', { now });
}

const loopIn = (...lines: readonly string[]) =>
  loopOf({ health: NOT_READ, dump: NOT_READ, log: { known: true, value: logOf(...lines) } });

describe('a log shows that the loop stands still', () => {
  test.each<[string, readonly string[], boolean]>([
    [
      'it goes on for a minute after the clean-up',
      [housekeeping('0404 16:37:00'), other('0404 16:38:01')],
      true,
    ],
    ['it goes on for less', [housekeeping('0404 16:37:00'), other('0404 16:37:59')], false],
    [
      'its health check fails, and was not followed by the loop',
      [housekeeping(FIVE_DAYS), complaint('0404 16:39:00')],
      true,
    ],
    [
      'its health check failed before the loop went on',
      [complaint('0404 16:38:00'), line('0404 16:39:00', 'SyncLoop (ADD, "api"): "web-0"')],
      false,
    ],
    [
      'its health check failed half an hour before the end',
      [complaint('0404 16:00:00'), other('0404 16:39:00')],
      false,
    ],
    ['its health check fails, and nothing else is said of it', [complaint('0404 16:39:00')], true],
    [
      'it says that it passes over its work',
      [housekeeping('0404 16:37:00'), skipped('0404 16:39:00')],
      false,
    ],
    [
      'it passed over its work before the clean-up',
      [skipped('0404 16:36:00'), housekeeping('0404 16:37:00'), other('0404 16:39:00')],
      true,
    ],
  ])('%s', (_, lines, isStill) => {
    expect(loopIn(...lines).still.length > 0).toBe(isStill);
  });
});

describe('the loop waits on purpose', () => {
  test('where it passes over its work and its health check fails', () => {
    const { elsewhere } = loopIn(skipped('0404 16:38:00'), complaint('0404 16:39:00'));
    expect(elsewhere).toMatchObject({ isShown: false, proof: { text: skipped('0404 16:38:00') } });
  });

  test('the last of such lines counts', () => {
    const { elsewhere } = loopIn(
      skipped('0404 16:37:00'),
      skipped('0404 16:38:00'),
      complaint('0404 16:39:00'),
    );
    expect(elsewhere?.proof.text).toBe(skipped('0404 16:38:00'));
  });

  test('not where nobody calls it unhealthy', () => {
    expect(loopIn(skipped('0404 16:38:00')).elsewhere).toBeUndefined();
  });

  test('not where the loop went on after it', () => {
    const lines = [
      skipped('0404 16:30:00'),
      housekeeping('0404 16:37:00'),
      complaint('0404 16:39:00'),
    ];
    expect(loopIn(...lines).elsewhere).toBeUndefined();
  });
});

test('the last line of the loop dates the silence', () => {
  const { since, silentSinceHousekeeping } = loopIn(
    housekeeping(FIVE_DAYS),
    complaint('0404 16:39:00'),
  );
  expect(since).toEqual(new Date('2026-03-30T15:58:27.936Z'));
  expect(silentSinceHousekeeping).toBe(true);
  expect(loopIn(housekeeping('0404 16:37:00')).silentSinceHousekeeping).toBe(false);
  const atWork = line('0404 16:37:00', 'SyncLoop (ADD, "api"): "web-0"');
  expect(loopIn(atWork, complaint('0404 16:39:00')).silentSinceHousekeeping).toBe(false);
  expect(loopIn(complaint('0404 16:39:00'))).toMatchObject({ silentSinceHousekeeping: false });
});
