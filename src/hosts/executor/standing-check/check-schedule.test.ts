import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CheckSchedule } from './check-schedule.ts';
import {
  CHECK_AGAIN_MARGIN_MS,
  CHECK_CHARGED_MAX_MS,
  CHECK_GAP_MS,
  CHECK_INTERVAL_MS,
  CHECK_SAVED_MS,
  CHECK_SHARE,
} from './limits.ts';

/** Asks every 100 ms whether to check, and says when checks of this length began. */
function checksIn(
  untilMs: number,
  tookMs: number,
  isChanged: (nowMs: number) => boolean,
): readonly number[] {
  const schedule = new CheckSchedule(0, () => 0.5);
  const begun: number[] = [];
  for (let nowMs = 0; nowMs < untilMs; nowMs += 100) {
    if (isChanged(nowMs)) schedule.want();
    if (!schedule.isDue(nowMs)) continue;
    begun.push(nowMs);
    schedule.begin();
    schedule.end(nowMs, nowMs + tookMs);
    nowMs += tookMs;
  }
  return begun;
}

test('a node that does not change is checked at once, and then at the interval', () => {
  const everyMs = (CHECK_INTERVAL_MS.min + CHECK_INTERVAL_MS.max) / 2;
  const begun = checksIn(4 * everyMs, 400, () => false);
  expect(begun[0]).toBe(0);
  expect(begun).toHaveLength(4);
  for (const [index, at] of begun.slice(1).entries()) {
    expect(at - (begun[index] ?? 0)).toBeGreaterThan(everyMs);
    expect(at - (begun[index] ?? 0)).toBeLessThan(everyMs + 1_000);
  }
});

test('a change is checked at once', () => {
  expect(checksIn(40_000, 400, (nowMs) => nowMs === 30_000)).toEqual([0, 30_000]);
});

test('a change soon after a check waits for a moment, and several changes are one', () => {
  const begun = checksIn(40_000, 400, (nowMs) => nowMs > 30_000 && nowMs < 32_000);
  expect(begun).toEqual([0, 30_100, 30_100 + 400 + CHECK_GAP_MS]);
});

test('a change during a check is checked again', () => {
  const schedule = new CheckSchedule(0);
  schedule.begin();
  schedule.want();
  schedule.end(0, 400);
  expect(schedule.isDue(400)).toBe(false);
  expect(schedule.isDue(400 + CHECK_GAP_MS)).toBe(true);
});

test('a node that changes all the time is checked for a small part of the time', () => {
  const lengths = fc.integer({ min: 1, max: 300 }).map((tenths) => tenths * 100);
  fc.assert(
    fc.property(lengths, (tookMs) => {
      const untilMs = 3_600_000;
      const chargedMs = Math.min(tookMs, CHECK_CHARGED_MAX_MS);
      const spentMs = checksIn(untilMs, tookMs, () => true).length * chargedMs;
      expect(spentMs).toBeLessThanOrEqual(untilMs * CHECK_SHARE + CHECK_SAVED_MS + chargedMs);
      expect(spentMs).toBeGreaterThan(0);
    }),
    { numRuns: 20 },
  );
});

test('a change is checked soon also after checks that waited long for something that hangs', () => {
  const begun = checksIn(80_000, 18_000, (nowMs) => nowMs === 30_000 || nowMs === 55_000);
  expect(begun.slice(0, 3)).toEqual([0, 30_000, 55_000]);
});

test('a verdict that changes by time alone is checked then, and the interval stays the longest wait', () => {
  const dueAfter = (againInMs: number) => {
    const schedule = new CheckSchedule(0, () => 0.5);
    schedule.begin();
    schedule.end(0, 400, againInMs);
    let nowMs = 400;
    while (!schedule.isDue(nowMs)) nowMs += 100;
    return nowMs;
  };
  expect(dueAfter(20_000)).toBe(20_000 + CHECK_AGAIN_MARGIN_MS);
  expect(dueAfter(3_600_000)).toBe(dueAfter(Number.POSITIVE_INFINITY));
  // A time that has passed already must not start one check after another.
  expect(dueAfter(-3_600_000)).toBe(400 + CHECK_GAP_MS);
});

test('a verdict that asks for another check each time takes a small part of the time', () => {
  const schedule = new CheckSchedule(0, () => 0.5);
  const [untilMs, tookMs] = [3_600_000, 1_000];
  let spentMs = 0;
  for (let nowMs = 0; nowMs < untilMs; nowMs += 100) {
    if (!schedule.isDue(nowMs)) continue;
    schedule.begin();
    schedule.end(nowMs, nowMs + tookMs, 0);
    nowMs += tookMs;
    spentMs += tookMs;
  }
  expect(spentMs).toBeLessThanOrEqual(untilMs * CHECK_SHARE + CHECK_SAVED_MS + tookMs);
});
