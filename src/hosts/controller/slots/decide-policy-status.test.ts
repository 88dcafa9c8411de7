import { expect, test } from 'vitest';
import { SLOT_LABEL } from '../../../pipeline/api/cluster-names.ts';
import type {
  FailedRecovery,
  RecoveryPolicyStatus,
} from '../../../pipeline/api/recovery-policy.ts';
import { decidePolicyStatus } from './decide-policy-status.ts';
import type { Slot } from './decide-slots.ts';

const NOW = new Date('2026-01-05T02:30:00Z');
const condition = {
  type: 'RightsEnforced',
  status: 'True',
  reason: 'PoliciesInForce',
  message: 'm',
} as const;
const rights = { condition, since: '2026-01-01T00:00:00Z' };
type Seen = Parameters<typeof decidePolicyStatus>[0];

function decided(more: Partial<Seen> = {}) {
  const seen = { spec: {}, before: {}, generation: 3, slots: [], usable: 2, rights, now: NOW };
  return decidePolicyStatus({ ...seen, ...more });
}

function slot(number: number, holder: string, failures: readonly FailedRecovery[] = []): Slot {
  const lease = {
    ...{ name: `kubediag-recovery-${number}`, holder, resourceVersion: '1', annotations: {} },
    ...{ labels: { [SLOT_LABEL]: 'true' }, durationSeconds: 0, seenAtMs: 0 },
    acquireTime: holder === '' ? undefined : '2026-01-05T02:00:00.000000Z',
  };
  return { number, lease, failures };
}

const failure = (uid: string, time: string): FailedRecovery => ({
  ...{ nodeName: 'web', diagnosis: `default/${uid}`, uid, time },
});
const conditionOf = (status: RecoveryPolicyStatus, type: string) =>
  status.conditions?.find((each) => each.type === type);

test('lists slots, nodes in recovery, and conditions', () => {
  const { status, isPermitted } = decided({ slots: [slot(0, ''), slot(1, 'web-1')] });
  expect(status).toMatchObject({
    slots: 2,
    nodesInRecovery: [
      { nodeName: 'web-1', lease: 'kubediag-recovery-1', since: '2026-01-05T02:00:00.000000Z' },
    ],
    failures: [],
    observedGeneration: 3,
  });
  expect(conditionOf(status, 'RightsEnforced')?.status).toBe('True');
  expect(conditionOf(status, 'RecoveryPermitted')).toMatchObject({
    status: 'True',
    lastTransitionTime: '2026-01-05T02:30:00Z',
  });
  expect(isPermitted).toBe(true);
});

test('an unchanged status is not written', () => {
  const { status } = decided();
  const later = { before: status, now: new Date('2026-01-06T00:00:00Z') };
  expect(decided(later).isChanged).toBe(false);
  expect(decided({ ...later, generation: 4 }).isChanged).toBe(true);
});

test('failures of Leases are added to those of the status, until they are reset', () => {
  const old = failure('old', '2026-01-01T00:00:00Z');
  const last = failure('new', '2026-01-02T00:00:00Z');
  const seen = { before: { failures: [old] }, slots: [slot(0, '', [last, old])] };
  const { status } = decided(seen);
  expect(status.failures).toEqual([old, last]);
  // The Lease is gone, and the status has them still.
  expect(decided({ before: status }).status.failures).toEqual([old, last]);
  const reset = { failuresResetTime: '2026-01-01T12:00:00Z' };
  expect(decided({ ...seen, spec: reset }).status.failures).toEqual([last]);
});

test('enough failures stop recoveries', () => {
  const failures = ['a', 'b', 'c'].map((uid) => failure(uid, '2026-01-02T00:00:00Z'));
  const { status, isPermitted } = decided({ slots: [slot(0, '', failures)] });
  expect(isPermitted).toBe(false);
  expect(conditionOf(status, 'RecoveryPermitted')).toMatchObject({
    status: 'False',
    reason: 'RecoveryStopped',
  });
});

test('missing rights forbid recoveries, unless the policy permits them', () => {
  const isMissing = { ...condition, status: 'False', message: 'no policies' } as const;
  const missing = { condition: isMissing, since: undefined };
  const { status } = decided({ rights: missing });
  expect(conditionOf(status, 'RecoveryPermitted')?.message).toContain('no policies');
  const spec = { withoutAdmissionPolicies: 'Allow' } as const;
  expect(decided({ rights: missing, spec }).isPermitted).toBe(true);
});

test('windows open and close by time', () => {
  const window = (schedule: string) => ({
    spec: { maintenanceWindows: [{ schedule, durationSeconds: 3_600 }] },
  });
  const open = decided(window('0 2 * * *'));
  expect(open.isPermitted).toBe(true);
  expect(open.changesAt).toEqual(new Date('2026-01-05T03:00:00Z'));
  const closed = decided(window('0 3 * * *'));
  expect(closed.isPermitted).toBe(false);
  expect(closed.changesAt).toEqual(new Date('2026-01-05T03:00:00Z'));
  expect(conditionOf(closed.status, 'RecoveryPermitted')?.reason).toBe('OutsideMaintenanceWindow');
});
