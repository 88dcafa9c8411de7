import { jsonValue, textAt } from '../../lib/std/json.ts';
import { FAILURES_LISTED_MAX } from '../api/limits.ts';
import type { FailedRecovery, RecoveryPolicySpec } from '../api/recovery-policy.ts';

/** The failed recoveries in the annotation of a slot Lease. Entries that make no sense are left out. */
export function failuresIn(annotation: string | undefined): readonly FailedRecovery[] {
  const list = jsonValue(annotation ?? '')?.value;
  if (!Array.isArray(list)) return [];
  return list.flatMap((each: unknown) => {
    const [nodeName, diagnosis, uid, time] = ['nodeName', 'diagnosis', 'uid', 'time'].map((key) =>
      textAt(each, key),
    );
    const isWhole = nodeName && diagnosis && uid && time && !Number.isNaN(Date.parse(time));
    return isWhole ? [{ nodeName, diagnosis, uid, time }] : [];
  });
}

/**
 * The annotation with more failures: the latest stay, as many as a policy may count. One Lease may have all of
 * them, while no controller copies them: 70 KB at most, of the 256 KiB for annotations.
 */
export function withFailures(
  annotation: string | undefined,
  more: readonly FailedRecovery[],
): string {
  const all = mergedFailures([failuresIn(annotation), more]);
  return JSON.stringify(all.slice(-FAILURES_LISTED_MAX));
}

/**
 * A node whose clock is ahead writes times that no reset reaches: those count from now on. They stay
 * after the last reset, also if our own clock is behind.
 */
export function notInFuture(
  now: Date,
  spec: Pick<RecoveryPolicySpec, 'failuresResetTime'>,
  failures: readonly FailedRecovery[],
): readonly FailedRecovery[] {
  const time = failureTime(now, spec);
  const latest = Math.max(Date.parse(time), now.getTime());
  return failures.map((failure) => (timeOf(failure) > latest ? { ...failure, time } : failure));
}

/** The time of a failure that happens now: after the last reset, also if the clock of the node is behind. */
export function failureTime(
  now: Date,
  { failuresResetTime = '' }: Pick<RecoveryPolicySpec, 'failuresResetTime'>,
): string {
  const afterReset = Date.parse(failuresResetTime) + 1_000;
  return timeText(new Date(Math.max(now.getTime(), afterReset || 0)));
}

/** The failures of several lists, each Diagnosis once with its latest, latest last. */
function mergedFailures(lists: readonly (readonly FailedRecovery[])[]): readonly FailedRecovery[] {
  const byUid = new Map<string, FailedRecovery>();
  for (const failure of lists.flat()) {
    const known = byUid.get(failure.uid);
    if (!known || timeOf(known) < timeOf(failure)) byUid.set(failure.uid, failure);
  }
  return [...byUid.values()].toSorted((left, right) => timeOf(left) - timeOf(right));
}

/** The failed recoveries since the last reset, latest last. */
export function failuresThatCount(
  { failuresResetTime }: Pick<RecoveryPolicySpec, 'failuresResetTime'>,
  ...lists: readonly (readonly FailedRecovery[])[]
): readonly FailedRecovery[] {
  const resetAt =
    failuresResetTime === undefined ? Number.NEGATIVE_INFINITY : Date.parse(failuresResetTime);
  // A time that nobody can read resets nothing.
  return mergedFailures(lists).filter((failure) => !(timeOf(failure) <= resetAt));
}

function timeOf({ time }: FailedRecovery): number {
  const at = Date.parse(time);
  return Number.isNaN(at) ? Number.POSITIVE_INFINITY : at;
}

// 2026-01-05T01:00:00Z
function timeText(at: Date): string {
  return `${at.toISOString().slice(0, 19)}Z`;
}
