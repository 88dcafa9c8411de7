import { expect, test } from 'vitest';
import type { DiagnosisSpec, DiagnosisStatus } from '../api/diagnosis.ts';
import { failedFor, timeText, withReason } from '../graph/conditions.ts';
import { askAgainAt, overdueAt, restMs, retentionMs } from './time-left.ts';
import { bareFailure } from './write-status.ts';

const START = Date.parse('2026-03-01T12:00:00Z');
const at = (seconds: number) => new Date(START + seconds * 1_000);
const begun = (spec: object = {}, status: object = {}) => ({
  spec: { operationSet: 'some', ...spec } as DiagnosisSpec,
  status: { phase: 'Running', startTime: timeText(at(0)), ...status } as DiagnosisStatus,
});
const stored = (spec: object, status: object) => ({
  apiVersion: 'v1',
  kind: 'Diagnosis' as const,
  metadata: {
    name: 'some',
    uid: 'u',
    resourceVersion: '1',
    generation: 1,
    creationTimestamp: timeText(at(0)),
  },
  spec: { ...spec },
  status: { ...status },
});

test('time left with and without a deadline', () => {
  const { spec, status } = begun({ deadlineSeconds: 30 });
  expect(restMs(spec, status, at(10))).toBe(20_000);
  expect(restMs(spec, status, at(40))).toBe(0);
  // The clock was set back by months.
  expect(restMs(spec, status, at(-10_000_000))).toBe(30_000);
  expect(restMs(begun().spec, status, at(40))).toBe(Number.POSITIVE_INFINITY);
});

test.each([
  ['what is missing may come until then', 0, {}, 60],
  ['the deadline is first', 0, { deadlineSeconds: 30 }, 30],
  ['the deadline is later', 61, { deadlineSeconds: 90 }, 90],
  ['all that can pass has passed', 61, {}, Number.POSITIVE_INFINITY],
])('time of the next decision: %s', (_, decided, given, due) => {
  const { spec, status } = begun(given);
  expect(askAgainAt(spec, status, at(decided))).toBe(START + due * 1_000);
});

test('time when only the end is left to write', () => {
  const of = (spec: object) => overdueAt(stored(spec, begun().status));
  expect(of({ deadlineSeconds: 30 })).toBe(START + 30_000);
  expect(of({})).toBe(Number.POSITIVE_INFINITY);
  expect(of({ deadlineSeconds: 30, cancel: true })).toBe(0);
});

test('the TTL counts from the end, whatever the phase', () => {
  const { spec, status } = begun({ ttlSecondsAfterFinished: 60 });
  const accepted = withReason(status, 'DiagnosisAccepted', at(0), 'node-1');
  const failed = failedFor(accepted, 'SyncDiagnosisFailed', at(600), 'no step');
  expect(failed.conditions).toHaveLength(1);
  expect(retentionMs(stored(spec, failed), at(610))).toBe(50_001);
  const bare = bareFailure(stored(spec, accepted), at(600));
  expect(retentionMs(stored(spec, bare), at(610))).toBe(50_001);
  expect(retentionMs(stored({}, failed), at(610))).toBeUndefined();
});

test('a Diagnosis without a status has not ended and is not deleted', () => {
  const { status: _, ...object } = stored({ ttlSecondsAfterFinished: 60 }, {});
  expect(retentionMs(object, at(610))).toBeUndefined();
});
