import fc from 'fast-check';
import { expect, test } from 'vitest';
import { windowsAt } from './windows.ts';

function seen(schedule: string, hours: number, now: string, timeZone?: string): string {
  const window = { schedule, durationSeconds: hours * 3600, ...(timeZone ? { timeZone } : {}) };
  const { isOpen, changesAt, problems } = windowsAt([window], new Date(now));
  const at = changesAt?.toISOString().slice(0, 16) ?? 'never';
  return `${isOpen ? 'open' : 'closed'} until ${at}${problems.length > 0 ? `: ${problems.join()}` : ''}`;
}

test.each([
  ['before it', '0 2 * * 1-5', 1, '2026-01-05T01:59:59.999Z', 'closed until 2026-01-05T02:00'],
  ['at its begin', '0 2 * * 1-5', 1, '2026-01-05T02:00:00Z', 'open until 2026-01-05T03:00'],
  ['within it', '0 2 * * 1-5', 1, '2026-01-05T02:59:59.999Z', 'open until 2026-01-05T03:00'],
  ['at its end', '0 2 * * 1-5', 1, '2026-01-05T03:00:00Z', 'closed until 2026-01-06T02:00'],
  ['on the wrong day', '0 2 * * 1-5', 1, '2026-01-03T02:30:00Z', 'closed until 2026-01-05T02:00'],
  ['after midnight', '0 23 * * *', 4, '2026-01-06T02:59:00Z', 'open until 2026-01-06T03:00'],
  [
    'on a day without begin',
    '0 23 * * 5',
    4,
    '2026-01-03T02:59:00Z',
    'open until 2026-01-03T03:00',
  ],
  ['of several days', '0 0 * * 6', 48, '2026-01-04T20:00:00Z', 'open until 2026-01-05T00:00'],
  ['with a nickname', '@daily', 1, '2026-01-04T00:30:00Z', 'open until 2026-01-04T01:00'],
  ['that overlaps itself', '0 * * * *', 2, '2026-01-04T00:30:00Z', 'open until 2026-01-04T02:00'],
])('a window %s', (_, schedule, hours, now, state) => {
  expect(seen(schedule, hours, now)).toBe(state);
});

test.each([
  ['in winter', '2026-01-05T01:30:00Z', 'open until 2026-01-05T03:00'],
  ['in summer', '2026-07-06T00:30:00Z', 'open until 2026-07-06T02:00'],
  ['in summer, at its hour of UTC', '2026-07-06T02:30:00Z', 'closed until 2026-07-07T00:00'],
  // 02:00 does not exist on this day: the clocks go from 02:00 to 03:00.
  ['on the day without its hour', '2026-03-29T01:30:00Z', 'open until 2026-03-29T03:00'],
  // 02:00 exists twice on this day: the first counts.
  ['on the day with its hour twice', '2026-10-25T01:30:00Z', 'open until 2026-10-25T02:00'],
  ['after the second such hour', '2026-10-25T02:30:00Z', 'closed until 2026-10-26T01:00'],
])('a window from 02:00 to 04:00 in Berlin %s', (_, now, state) => {
  expect(seen('0 2 * * *', 2, now, 'Europe/Berlin')).toBe(state);
});

test('a begin in the hour that does not exist is at its end', () => {
  const at = (now: string) => seen('30 2 * * *', 1, now, 'Europe/Berlin');
  expect(at('2026-03-29T00:59:00Z')).toMatch(/^closed until 2026-03-29T01:00/);
  expect(at('2026-03-29T01:00:00Z')).toMatch(/^open until 2026-03-29T02:00/);
});

test.each([
  ['0 25 * * *', undefined, 'maintenance window "0 25 * * *" in time zone UTC is not valid'],
  ['soon', undefined, 'maintenance window "soon" in time zone UTC is not valid'],
  ['0 0 2 * * *', undefined, 'is not valid'],
  ['? 2 * * *', undefined, 'use five fields, such as'],
  ['0 0 31 2 *', undefined, 'never begins'],
  ['2026-01-05T11:00:00', undefined, 'is not valid'],
  ['0 2 * * *', 'Mars/Olympus', 'in time zone Mars/Olympus is not valid'],
])('the schedule %s in time zone %s never opens', (schedule, timeZone, problem) => {
  expect(seen(schedule, 48, '2026-01-05T12:00:00Z', timeZone)).toMatch(/^closed until never: /);
  expect(seen(schedule, 48, '2026-01-05T12:00:00Z', timeZone)).toContain(problem);
});

test('one open window is enough, and the last one to close counts', () => {
  const now = new Date('2026-01-05T12:00:00Z');
  const windows = ['0 25 * * *', '0 11 * * *', '30 11 * * *', '0 13 * * *'].map((schedule) => ({
    schedule,
    durationSeconds: 7200,
  }));
  const { isOpen, changesAt, problems } = windowsAt(windows, now);
  expect({ isOpen, changesAt }).toEqual({
    isOpen: true,
    changesAt: new Date('2026-01-05T13:30:00Z'),
  });
  expect(problems).toHaveLength(1);
  expect(windowsAt([], now)).toEqual({ isOpen: true, problems: [] });
});

test('the state stays until the time that it names', () => {
  const window = fc.record({
    schedule: fc
      .tuple(fc.nat(59), fc.nat(23), fc.nat(6))
      .map(([minute, hour, day]) => `${minute} ${hour} * * ${day}`),
    timeZone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe'),
    durationSeconds: fc.integer({ min: 60, max: 200_000 }),
  });
  const time = fc.date({
    min: new Date('2026-01-01T00:00:00Z'),
    max: new Date('2026-12-31T00:00:00Z'),
    noInvalidDate: true,
  });
  fc.assert(
    fc.property(window, time, fc.double({ min: 0, max: 0.999, noNaN: true }), (each, now, part) => {
      const { isOpen, changesAt } = windowsAt([each], now);
      if (!changesAt) throw new Error('it never changes');
      const span = changesAt.getTime() - now.getTime();
      const between = windowsAt([each], new Date(now.getTime() + Math.floor(span * part)));
      expect(between.isOpen).toBe(isOpen);
      expect(windowsAt([each], changesAt).isOpen).toBe(!isOpen);
    }),
  );
});
