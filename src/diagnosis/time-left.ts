import type { DiagnosisSpec, DiagnosisStatus } from '../api/diagnosis.ts';
import { ARRIVAL_MS } from '../graph/limits.ts';
import { TIMER_MAX_MS } from './limits.ts';
import type { StoredObject } from './store.ts';

/** What is left of the time for the whole; undefined when there is no limit. */
export function restMs(
  { deadlineSeconds }: DiagnosisSpec,
  { startTime }: DiagnosisStatus,
  now: Date,
): number | undefined {
  if (deadlineSeconds === undefined || startTime === undefined) return undefined;
  return Math.max(Date.parse(startTime) + deadlineSeconds * 1_000 - now.getTime(), 0);
}

/** When a Diagnosis that waits has to be asked again though nothing has changed. */
export function askAgainMs(object: StoredObject, now: Date): number | undefined {
  const { startTime = '', ...status } = (object.status ?? {}) as DiagnosisStatus;
  const spec = object.spec as DiagnosisSpec;
  const arrivalMs = Date.parse(startTime) + ARRIVAL_MS - now.getTime();
  const times = [restMs(spec, { ...status, startTime }, now), arrivalMs].filter(
    (ms) => ms !== undefined && ms > 0,
  );
  return times.length === 0 ? undefined : timerMs(Math.min(...(times as number[])));
}

/** How long one that has ended is kept; undefined when nobody said. */
export function keptMs(object: StoredObject, now: Date): number | undefined {
  const { ttlSecondsAfterFinished: seconds } = object.spec as DiagnosisSpec;
  if (seconds === undefined) return undefined;
  const { conditions = [] } = (object.status ?? {}) as DiagnosisStatus;
  const times = conditions.map(({ lastTransitionTime = '' }) => Date.parse(lastTransitionTime));
  // The last change of a condition was its end.
  const ended = Math.max(...times.filter((time) => !Number.isNaN(time)));
  if (!Number.isFinite(ended)) return undefined;
  return timerMs(ended + seconds * 1_000 - now.getTime());
}

function timerMs(ms: number): number {
  // A moment later than that: times in a status are whole seconds.
  return Math.min(Math.max(ms, 0) + 1, TIMER_MAX_MS);
}

export function hasEnded({ status }: StoredObject): boolean {
  const { phase } = (status ?? {}) as DiagnosisStatus;
  return phase === 'Succeeded' || phase === 'Failed';
}
