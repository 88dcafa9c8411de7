import type { LogTime } from './log-line.ts';

/** What is known of the clock of a log. */
export interface LogClock {
  /** A time soon after the last line. The year of a line is chosen so that it is before this. */
  readonly end: Date;
  /** The offset of the node's local time from UTC. */
  readonly offsetMs: number;
  /** False if the zone is a guess, so that every time may be wrong by an offset. */
  readonly isZoneKnown: boolean;
}

const QUARTER_MS = 15 * 60_000;
const DAY_MS = 86_400_000;

/** No zone differs more from UTC: with a larger difference, the file was written later. */
const ZONE_MAX_MS = 14.5 * 3_600_000;

/** A line is written at once, and zone offsets are multiples of 15 minutes, so this is the tolerance. */
const WRITTEN_WITHIN_MS = 5 * 60_000;

/**
 * A file was last written when its last line was, so the difference of the two times shows the
 * zone. Without it, UTC is assumed.
 */
export function logClock({ first, last, modifiedMs, now }: LogSpan): LogClock {
  const guess = { end: now, offsetMs: 0, isZoneKnown: last?.kind === 'exact' };
  if (last === undefined || last.kind === 'exact') return guess;
  if (modifiedMs === undefined) return { ...guess, end: endAfter(first, last) ?? now };
  const end = new Date(modifiedMs);
  const local = last.kind === 'zoneless' ? last.ms : nearest(last.ms, modifiedMs);
  const ahead = local - modifiedMs;
  const offsetMs = Math.round(ahead / QUARTER_MS) * QUARTER_MS;
  const isTrue = Math.abs(ahead - offsetMs) < WRITTEN_WITHIN_MS && Math.abs(ahead) < ZONE_MAX_MS;
  return isTrue ? { end, offsetMs, isZoneKnown: true } : { ...guess, end };
}

/** The times of the first and the last line, and when the log was written and read. */
export interface LogSpan {
  readonly first: LogTime | undefined;
  readonly last: LogTime | undefined;
  readonly modifiedMs: number | undefined;
  readonly now: Date;
}

/** klog writes the year into the first line of a file; the last line is not older. */
function endAfter(first: LogTime | undefined, last: LogTime): Date | undefined {
  if (first === undefined || first.kind === 'yearless' || last.kind !== 'yearless')
    return undefined;
  const year = new Date(first.ms).getUTCFullYear();
  const same = inYear(last.ms, year);
  return new Date(same >= first.ms - DAY_MS ? same : inYear(last.ms, year + 1));
}

export function dateOf(time: LogTime, { end, offsetMs }: LogClock): Date {
  if (time.kind === 'exact') return new Date(time.ms);
  if (time.kind === 'zoneless') return new Date(time.ms - offsetMs);
  const local = end.getTime() + offsetMs;
  const near = nearest(time.ms, local);
  // Clocks differ a little. A line from tomorrow is from last year.
  const isLater = near - local > DAY_MS;
  return new Date(
    (isLater ? inYear(time.ms, new Date(near).getUTCFullYear() - 1) : near) - offsetMs,
  );
}

function nearest(yearlessMs: number, aroundMs: number): number {
  const year = new Date(aroundMs).getUTCFullYear();
  const candidates = [year - 1, year, year + 1].map((each) => inYear(yearlessMs, each));
  return candidates.reduce((best, each) =>
    Math.abs(each - aroundMs) < Math.abs(best - aroundMs) ? each : best,
  );
}

function inYear(yearlessMs: number, year: number): number {
  const date = new Date(yearlessMs);
  date.setUTCFullYear(year);
  return date.getTime();
}
