import { expect, test } from 'vitest';
import { withPolicyWait } from './policy-wait.ts';

const NOW = new Date('2026-01-02T04:00:00Z');
const delay = (againMs: number) => ({
  notNow: { reason: 'RecoveryPaused', name: 'default' } as const,
  againMs,
});
const since = (lastTransitionTime: string, status = 'True') => [
  { type: 'WaitingForRecovery', status, reason: 'RecoveryPaused', lastTransitionTime },
];

test.each([
  ['for the first time', [], 300_000, 10_000],
  ['a moment ago', since('2026-01-02T03:59:50Z'), 300_000, 10_000],
  ['ten minutes ago', since('2026-01-02T03:50:00Z'), 300_000, 150_000],
  ['days ago', since('2025-12-31T04:00:00Z'), 900_000, 300_000],
  ['before an earlier step, and no more', since('2025-12-31T04:00:00Z', 'False'), 300_000, 10_000],
  ['on a clock that was ahead', since('2026-01-02T05:00:00Z'), 300_000, 10_000],
  ['and a maintenance window opens soon', since('2025-12-31T04:00:00Z'), 7_000, 7_000],
])('a Diagnosis that began to wait %s', (_, conditions, changesMs, expected) => {
  const status = { conditions } as Parameters<typeof withPolicyWait>[1];
  expect(withPolicyWait(delay(changesMs), status, NOW).againMs).toBe(expected);
});
