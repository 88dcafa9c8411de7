import type { DiagnosisSpec, DiagnosisStatus } from '../api/diagnosis.ts';
import { ARRIVAL_MS } from '../graph/limits.ts';
import type { StoredObject } from '../store/store.ts';
import { TIMER_MAX_MS } from './limits.ts';

function deadlineAt({ deadlineSeconds }: DiagnosisSpec, { startTime }: DiagnosisStatus): number {
  if (deadlineSeconds === undefined || startTime === undefined) return Number.POSITIVE_INFINITY;
  return Date.parse(startTime) + deadlineSeconds * 1_000;
}

/** Time left until the deadline; at most all of it, even if the clock was set back. */
export function restMs(spec: DiagnosisSpec, status: DiagnosisStatus, now: Date): number {
  const { deadlineSeconds = Number.POSITIVE_INFINITY } = spec;
  const leftMs = deadlineAt(spec, status) - now.getTime();
  return Math.min(Math.max(leftMs, 0), deadlineSeconds * 1_000);
}

/** From when on no step runs any more and only the end has to be written. */
export function overdueAt(object: StoredObject): number {
  const spec = object.spec as DiagnosisSpec;
  return spec.cancel ? 0 : deadlineAt(spec, object.status ?? {});
}

/**
 * When a waiting Diagnosis must be driven again although nothing has changed: the next time limit
 * after the decision, which may have passed since.
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

/** How long an ended Diagnosis is retained; undefined without a TTL. */
export function retentionMs(object: StoredObject, now: Date): number | undefined {
  const { ttlSecondsAfterFinished: seconds } = object.spec as DiagnosisSpec;
  const { endTime } = (object.status ?? {}) as DiagnosisStatus;
  if (seconds === undefined || endTime === undefined) return undefined;
  return timerMs(Date.parse(endTime) + seconds * 1_000 - now.getTime());
}

/** A moment later: times in a status are whole seconds. */
export function timerMs(ms: number): number {
  return Math.min(Math.max(ms, 0) + 1, TIMER_MAX_MS);
}
