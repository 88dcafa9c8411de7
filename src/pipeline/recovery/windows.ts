import { Cron } from 'croner';
import { messageOf } from '../../lib/std/message-of.ts';
import type { RecoveryPolicySpec } from '../api/recovery-policy.ts';

type Window = NonNullable<RecoveryPolicySpec['maintenanceWindows']>[number];

export interface SeenWindows {
  readonly isOpen: boolean;
  /** When it closes, or when the next one opens; absent if that never happens. */
  readonly changesAt?: Date;
  /** The windows that are always closed, because nobody can read them. */
  readonly problems: readonly string[];
}

/** cron has minutes; the end of a run must be found by a moment after it. */
const AFTER_MS = 1_000;

/** Whether one of the windows is open. Without a window it is always open. */
export function windowsAt(windows: readonly Window[], now: Date): SeenWindows {
  if (windows.length === 0) return { isOpen: true, problems: [] };
  const seen = windows.map((window) => windowAt(window, now));
  const problems = seen.flatMap((each) => ('problem' in each ? [each.problem] : []));
  const open = seen.flatMap((each) => ('closesAt' in each ? [each.closesAt] : []));
  const isOpen = open.length > 0;
  const opening = seen.flatMap((each) => ('opensAt' in each && each.opensAt ? [each.opensAt] : []));
  const changesAt = isOpen ? latestOf(open) : earliestOf(opening);
  return { isOpen, problems, ...(changesAt ? { changesAt } : {}) };
}

/**
 * 0 2 * * 1-5
 *
 * croner also reads single dates, and "?" as the time at which it reads the schedule, which is another one
 * for each agent.
 */
const SCHEDULE = /^(@[a-z]+|[^\s?]+(\s+[^\s?]+){4})$/;
const FORM = 'use five fields, such as "0 2 * * 1-5"';

type SeenWindow =
  | { readonly closesAt: Date }
  | { readonly opensAt: Date | undefined }
  | { readonly problem: string };

function windowAt({ schedule, timeZone = 'UTC', durationSeconds }: Window, now: Date): SeenWindow {
  const name = `maintenance window "${schedule}" in time zone ${timeZone}`;
  if (!SCHEDULE.test(schedule)) return { problem: `${name} is not valid: ${FORM}` };
  try {
    const cron = new Cron(schedule, { timezone: timeZone, mode: '5-part', paused: true });
    // The latest begin decides: all have the same duration. It is in local time, the duration is not.
    const [begin] = cron.previousRuns(1, new Date(now.getTime() + AFTER_MS));
    const closesAt = begin && new Date(begin.getTime() + durationSeconds * 1_000);
    if (begin && closesAt && begin <= now && closesAt > now) return { closesAt };
    const opensAt = cron.nextRun(now) ?? undefined;
    if (opensAt) return { opensAt };
    return { problem: `${name} never begins` };
  } catch (error) {
    return { problem: `${name} is not valid: ${messageOf(error)}` };
  }
}

function earliestOf(times: readonly Date[]): Date | undefined {
  return times.toSorted((left, right) => left.getTime() - right.getTime())[0];
}

function latestOf(times: readonly Date[]): Date | undefined {
  return times.toSorted((left, right) => right.getTime() - left.getTime())[0];
}
