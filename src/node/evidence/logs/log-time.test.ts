import { describe, expect, test } from 'vitest';
import type { LogTime } from './log-line.ts';
import { dateOf, logClock } from './log-time.ts';

const NOW = new Date('2026-11-15T12:00:00Z');
const yearless = (iso: string): LogTime => ({ kind: 'yearless', ms: Date.parse(`1972-${iso}Z`) });
const zoneless = (iso: string): LogTime => ({ kind: 'zoneless', ms: Date.parse(`${iso}Z`) });
const exact = (iso: string): LogTime => ({ kind: 'exact', ms: Date.parse(`${iso}Z`) });
const HOUR_MS = 3_600_000;

const clockOf = (last: LogTime | undefined, modified?: string, first?: LogTime) => {
  const modifiedMs = modified === undefined ? undefined : Date.parse(`${modified}Z`);
  return logClock({ first, last, modifiedMs, now: NOW });
};

describe('the zone of a log', () => {
  test.each<[string, LogTime, string, number]>([
    ['two hours ahead of UTC', yearless('11-15T12:00:00'), '2026-11-15T10:00:00', 2 * HOUR_MS],
    [
      'three and a half hours behind',
      zoneless('2026-11-15T06:30:00'),
      '2026-11-15T10:00:00',
      -3.5 * HOUR_MS,
    ],
    [
      'UTC, with clocks that differ by a minute',
      yearless('11-15T10:01:00'),
      '2026-11-15T10:00:00',
      0,
    ],
    [
      'of a line of New Year, written in the old one',
      yearless('01-01T00:30:00'),
      '2026-12-31T23:30:00',
      HOUR_MS,
    ],
  ])('%s', (_, last, modified, offsetMs) => {
    expect(clockOf(last, modified)).toEqual({
      end: new Date(`${modified}Z`),
      offsetMs,
      isZoneKnown: true,
    });
  });

  test.each<[string, LogTime | undefined, string | undefined]>([
    ['if the modification time is not known', yearless('11-15T12:00:00'), undefined],
    [
      'if it was written long after its last line',
      yearless('11-15T09:52:00'),
      '2026-11-15T10:00:00',
    ],
    [
      'if the clocks differ by more than any zone',
      yearless('11-13T10:00:00'),
      '2026-11-15T10:00:00',
    ],
    ['if its last line has no time', undefined, '2026-11-15T10:00:00'],
  ])('is not known %s', (_, last, modified) => {
    expect(clockOf(last, modified)).toMatchObject({ offsetMs: 0, isZoneKnown: false });
  });

  test('is in the line itself', () => {
    expect(clockOf(exact('2026-11-15T12:00:00'))).toMatchObject({ isZoneKnown: true });
  });
});

describe('the date of a line', () => {
  test.each<[string, LogTime, string]>([
    ['with its zone', exact('2020-01-02T03:04:05'), '2020-01-02T03:04:05.000Z'],
    ['without its zone', zoneless('2026-11-15T12:00:00'), '2026-11-15T10:00:00.000Z'],
    ['without its year', yearless('11-15T12:00:00'), '2026-11-15T10:00:00.000Z'],
    ['of the end of last year', yearless('12-31T23:00:00'), '2025-12-31T21:00:00.000Z'],
    ['that is a few minutes ahead', yearless('11-15T12:05:00'), '2026-11-15T10:05:00.000Z'],
    ['of a later month, so of last year', yearless('11-20T12:00:00'), '2025-11-20T10:00:00.000Z'],
  ])('%s', (_, time, expected) => {
    const clock = clockOf(yearless('11-15T12:00:00'), '2026-11-15T10:00:00');
    expect(dateOf(time, clock).toISOString()).toBe(expected);
  });
});

describe('the year of a copied log', () => {
  const FIRST = zoneless('2024-12-30T10:00:00');

  test.each<[string, LogTime, string]>([
    ['is that of its first line', yearless('12-31T10:00:00'), '2024-12-31T10:00:00.000Z'],
    [
      'is the next one, where its last line is of an earlier month',
      yearless('02-01T10:00:00'),
      '2025-02-01T10:00:00.000Z',
    ],
    [
      'is not the next one, where clocks differ by hours',
      yearless('12-30T01:00:00'),
      '2024-12-30T01:00:00.000Z',
    ],
  ])('%s', (_, last, end) => {
    expect(clockOf(last, undefined, FIRST).end.toISOString()).toBe(end);
  });

  test('is the current one, if no line has a year', () => {
    expect(clockOf(yearless('02-01T10:00:00'), undefined, yearless('01-01T10:00:00')).end).toEqual(
      NOW,
    );
    expect(clockOf(yearless('02-01T10:00:00')).end).toEqual(NOW);
  });
});
