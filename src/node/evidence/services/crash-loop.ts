import { CRASH_LOOP_EXITS_MIN, CRASH_LOOP_MS } from '../limits.ts';
import type { UnitEvent } from './service-unit.ts';

/** Whether a service exited with an error several times within minutes of its last event. */
export function isCrashLoop(events: readonly UnitEvent[]): boolean {
  return recentExits(events).length >= CRASH_LOOP_EXITS_MIN;
}

/**
 * The exits with an error, without those that systemd requested (`systemctl restart`): k3s exits
 * with code 1 then, too.
 */
export function recentExits(events: readonly UnitEvent[]): readonly UnitEvent[] {
  const last = events.at(-1)?.time?.getTime() ?? 0;
  return events.filter(
    (event, index) =>
      event.what === 'unit-exited' &&
      event.fields.status !== '0' &&
      event.fields.name !== 'TERM' &&
      !isAskedFor(events, index) &&
      last - (event.time?.getTime() ?? 0) < CRASH_LOOP_MS,
  );
}

/** Whether systemd was stopping the service at this event. */
export function isAskedFor(events: readonly UnitEvent[], index: number): boolean {
  const before = events
    .slice(0, index)
    .findLast(({ what }) => what === 'unit-stopping' || what === 'unit-started');
  return before?.what === 'unit-stopping';
}

/**
 * The longest of the last runs in seconds; undefined if none is known. The first run of a crash
 * loop does not count: it may have lasted for months.
 */
export function longestLifeS(events: readonly UnitEvent[]): number | undefined {
  const lives: number[] = [];
  let startedMs: number | undefined;
  for (const { what, time } of events) {
    if (what === 'unit-started') startedMs = time?.getTime();
    if (what !== 'unit-exited' || startedMs === undefined || !time) continue;
    lives.push((time.getTime() - startedMs) / 1000);
    startedMs = undefined;
  }
  const last = lives.slice(1 - CRASH_LOOP_EXITS_MIN);
  return last.length === 0 ? undefined : Math.max(...last);
}
