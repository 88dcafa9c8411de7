import type { DiagnosisDigest } from '../digests.ts';

/**
 * Whether an ended Diagnosis is to be deleted. Its end is on our own clock, so a clock that is set while this
 * process leads deletes nothing. One that belongs to another one is deleted after that, by its owner reference.
 */
export function isExpired(
  { ttlSeconds, endedAtMs, parentUid, isDeleted }: DiagnosisDigest,
  nowMs: number,
): boolean {
  if (ttlSeconds === undefined || endedAtMs === undefined) return false;
  return !isDeleted && parentUid === undefined && nowMs - endedAtMs >= ttlSeconds * 1_000;
}
