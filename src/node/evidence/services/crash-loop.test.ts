import { describe, expect, test } from 'vitest';
import { CRASH_LOOP_MS } from '../limits.ts';
import { isAskedFor, isCrashLoop, longestLifeS, recentExits } from './crash-loop.ts';
import type { UnitEvent } from './service-unit.ts';

const BEGIN = Date.parse('2026-04-04T16:00:00Z');

const event = (
  second: number | undefined,
  what: UnitEvent['what'],
  fields: UnitEvent['fields'] = {},
): UnitEvent => ({
  what,
  fields,
  text: what,
  origin: { command: 'journalctl' },
  ...(second === undefined ? {} : { time: new Date(BEGIN + second * 1000) }),
});
const started = (second?: number) => event(second, 'unit-started');
const exited = (second: number | undefined, status = '1', name = 'FAILURE') =>
  event(second, 'unit-exited', { code: 'exited', status, name });

describe('a crash loop', () => {
  test.each<[string, readonly UnitEvent[], number]>([
    ['ends with an error count', [exited(0), exited(10), exited(20)], 3],
    ['an end without an error does not', [exited(0, '0'), exited(10)], 1],
    ['an end by SIGTERM does not', [exited(0, '15', 'TERM'), exited(10)], 1],
    ['an end that somebody asked for does not', [event(0, 'unit-stopping'), exited(1)], 0],
    ['one after the next start does again', [event(0, 'unit-stopping'), started(1), exited(2)], 1],
    ['one long before the last event does not', [exited(0), started(CRASH_LOOP_MS / 1000)], 0],
    ['where no event has a time, all count', [exited(undefined), exited(undefined)], 2],
    ['what is no end does not', [started(0), event(1, 'unit-failed')], 0],
    ['nothing', [], 0],
  ])('%s', (_, events, count) => {
    expect(recentExits(events)).toHaveLength(count);
  });

  test('needs three exits', () => {
    expect(isCrashLoop([exited(0), exited(10)])).toBe(false);
    expect(isCrashLoop([exited(0), exited(10), exited(20)])).toBe(true);
  });
});

test('the last stop or start before an event shows whether it was requested', () => {
  const events = [event(0, 'unit-stopping'), exited(1), started(2), exited(3)];
  expect(events.map((_, index) => isAskedFor(events, index))).toEqual([false, true, true, false]);
});

describe('the longest run', () => {
  test.each<[string, readonly UnitEvent[], number | undefined]>([
    ['of one run', [started(0), exited(40)], 40],
    [
      'of the last two runs',
      [started(0), exited(900), started(1000), exited(1040), started(1100), exited(1110)],
      40,
    ],
    ['of a run whose start is not known', [exited(40)], undefined],
    ['counts a start once', [started(0), exited(40), exited(90)], 40],
    ['of a run without times', [started(undefined), exited(undefined)], undefined],
    ['of a run that goes on', [started(0)], undefined],
  ])('%s', (_, events, seconds) => {
    expect(longestLifeS(events)).toBe(seconds);
  });
});
