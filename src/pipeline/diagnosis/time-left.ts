import type { DiagnosisSpec, DiagnosisStatus } from '../api/diagnosis.ts';
import { ARRIVAL_MS } from '../graph/limits.ts';
import type { StoredObject } from '../store/store.ts';
import { TIMER_MAX_MS } from './limits.ts';

/** When the time for the whole is over. */
function deadlineAt({ deadlineSeconds }: DiagnosisSpec, { startTime }: DiagnosisStatus): number {
  if (deadlineSeconds === undefined || startTime === undefined) return Number.POSITIVE_INFINITY;
  return Date.parse(startTime) + deadlineSeconds * 1_000;
}

/** What is left until the deadline: never more than all of it, whatever the clock was set to since. */
export function restMs(spec: DiagnosisSpec, status: DiagnosisStatus, now: Date): number {
  const { deadlineSeconds = Number.POSITIVE_INFINITY } = spec;
  const leftMs = deadlineAt(spec, status) - now.getTime();
  return Math.min(Math.max(leftMs, 0), deadlineSeconds * 1_000);
}

/** From when on there is no step to be run any more, only an end to be written. */
export function overAt(object: StoredObject): number {
  const spec = object.spec as DiagnosisSpec;
  return spec.cancel ? 0 : deadlineAt(spec, object.status ?? {});
}

/**
 * When a Diagnosis that waits has to be asked again though nothing has changed. What had not passed
 * when it was decided counts, though it may have passed since.
 */
export function askAgainAt(
  spec: DiagnosisSpec,
  status: DiagnosisStatus,
  decided: Date,
  arrivalMs: number = ARRIVAL_MS,
): number {
  const arrivalAt = Date.parse(status.startTime ?? '') + arrivalMs;
  const times = [deadlineAt(spec, status), arrivalAt];
  return Math.min(...times.filter((time) => time > decided.getTime()));
}

/** How long one that has ended is kept; undefined when nobody said. */
export function retentionMs(object: StoredObject, now: Date): number | undefined {
  const { ttlSecondsAfterFinished: seconds } = object.spec as DiagnosisSpec;
  const { endTime } = (object.status ?? {}) as DiagnosisStatus;
  if (seconds === undefined || endTime === undefined) return undefined;
  return timerMs(Date.parse(endTime) + seconds * 1_000 - now.getTime());
}

/** A moment later than that: times in a status are whole seconds. */
export function timerMs(ms: number): number {
  return Math.min(Math.max(ms, 0) + 1, TIMER_MAX_MS);
}

export function hasEnded({ status }: Pick<StoredObject, 'status'>): boolean {
  const { phase } = (status ?? {}) as DiagnosisStatus;
  return phase === 'Succeeded' || phase === 'Failed';
}
