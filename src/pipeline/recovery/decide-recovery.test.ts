import { expect, test } from 'vitest';
import type { RecoveryPolicySpec, RecoveryPolicyStatus } from '../api/recovery-policy.ts';
import { decideRecovery, messageFor, whyRefused } from './decide-recovery.ts';
import { recoveryCondition } from './recovery-condition.ts';
import { policyIn } from './seen-policy.ts';

const NOW = new Date('2026-01-05T12:00:00Z');
const OBSERVED: RecoveryPolicyStatus = {
  slots: 3,
  observedGeneration: 2,
  conditions: [{ type: 'RightsEnforced', status: 'True' }],
  rightsEnforcedSince: '2026-01-01T00:00:00Z',
};

function failure(uid: string, time = '2026-01-05T11:00:00Z') {
  return { nodeName: 'web-3', diagnosis: 'default/web', uid, time };
}

function decided(
  spec: RecoveryPolicySpec,
  status: RecoveryPolicyStatus | undefined = OBSERVED,
  slotFailures: readonly ReturnType<typeof failure>[] = [],
) {
  const policy = policyIn({
    metadata: { generation: 2 },
    spec: { maxConcurrentNodes: 3, ...spec },
    status,
  });
  return decideRecovery({ policy, slotFailures, createdAt: undefined, now: NOW });
}

function messageOf(decision: ReturnType<typeof decideRecovery>): string | undefined {
  return recoveryCondition(decision).message;
}

test('permits with the slots of a policy that a controller has observed', () => {
  expect(decided({})).toEqual({ permitted: true, slots: 3 });
  expect(recoveryCondition(decided({}))).toEqual({
    type: 'RecoveryPermitted',
    status: 'True',
    reason: 'RecoveryPermitted',
    message: 'Recoveries may begin; at most 3 nodes at once',
  });
});

const three = ['a', 'b', 'c'].map((uid) => failure(uid));

test.each<[string, RecoveryPolicySpec, RecoveryPolicyStatus | undefined, typeof three, string]>([
  ['without a status', {}, {}, [], 'RecoveryPolicyMissing'],
  ['without slots', {}, { observedGeneration: 2 }, [], 'RecoveryPolicyMissing'],
  ['paused', { paused: true }, OBSERVED, [], 'RecoveryPaused'],
  ['without a word about rights', {}, { ...OBSERVED, conditions: [] }, [], 'RightsNotChecked'],
  [
    'with rights that nobody enforces',
    { withoutAdmissionPolicies: 'Deny' },
    { ...OBSERVED, conditions: [{ type: 'RightsEnforced', status: 'False', message: 'v1.29' }] },
    [],
    'RightsNotEnforced',
  ],
  [
    'with rights that are unknown',
    {},
    { ...OBSERVED, conditions: [{ type: 'RightsEnforced', status: 'Unknown' }] },
    [],
    'RightsNotChecked',
  ],
  ['after three failures', {}, OBSERVED, three, 'RecoveryStopped'],
  ['after failures in the status', {}, { ...OBSERVED, failures: three }, [], 'RecoveryStopped'],
  [
    'after the failures that it permits',
    { stopAfterFailures: 1 },
    OBSERVED,
    [failure('a')],
    'RecoveryStopped',
  ],
  [
    'outside of its windows',
    { maintenanceWindows: [{ schedule: '0 2 * * *', durationSeconds: 3600 }] },
    OBSERVED,
    [],
    'OutsideMaintenanceWindow',
  ],
  [
    'with a window that nobody can read',
    { maintenanceWindows: [{ schedule: '0 25 * * *', durationSeconds: 3600 }] },
    OBSERVED,
    [],
    'OutsideMaintenanceWindow',
  ],
])('permits nothing %s', (_, spec, status, failures, reason) => {
  expect(decided(spec, status, failures)).toMatchObject({ permitted: false, reason });
});

test.each([
  ['no object', 'policy', 'cannot be used: malformed; correct the policy'],
  ['without a spec', {}, 'cannot be used: spec: '],
  [
    'with a mode that we do not know',
    { spec: { faults: [{ name: 'x', recovery: 'Maybe' }] } },
    'cannot be used: spec.faults.0.recovery: ',
  ],
  [
    'with a field that this version does not know',
    { spec: { maintenanceWindows: [{ schedule: '0 2 * * *', durationSeconds: 60, except: [] }] } },
    'cannot be used: unknown field spec.maintenanceWindows.0.except;',
  ],
  [
    'with a malformed status',
    { spec: {}, status: { slots: 'many' } },
    'cannot be used: status.slots: ',
  ],
])('permits nothing with a policy that is %s', (_, object, why) => {
  const policy = policyIn(object);
  const seen = { policy, slotFailures: [], createdAt: undefined, now: NOW };
  const decision = decideRecovery(seen);
  expect(decision).toMatchObject({ permitted: false, reason: 'RecoveryPolicyUnusable' });
  expect(messageOf(decision)).toContain(why);
});

test('permits nothing without a policy', () => {
  const decision = decideRecovery({
    policy: policyIn(undefined),
    slotFailures: [],
    createdAt: undefined,
    now: NOW,
  });
  expect(decision).toEqual({
    permitted: false,
    reason: 'RecoveryPolicyMissing',
    name: 'not found',
  });
});

test('permits again after a reset of the failures', () => {
  const spec = { failuresResetTime: '2026-01-05T11:30:00Z' };
  expect(decided(spec, OBSERVED, three)).toMatchObject({ permitted: true });
  const later = [...three, ...['d', 'e', 'f'].map((uid) => failure(uid, '2026-01-05T11:45:00Z'))];
  expect(decided(spec, OBSERVED, later)).toMatchObject({ reason: 'RecoveryStopped' });
});

test('counts a failure once that the controller has copied', () => {
  const copied = { ...OBSERVED, failures: three.slice(0, 2) };
  expect(decided({}, copied, three.slice(0, 2))).toMatchObject({ permitted: true });
  expect(decided({}, copied, three)).toMatchObject({ permitted: false });
});

test('does not let a step wait whose author nobody has checked', () => {
  const paused = { paused: true };
  const unchecked = { ...OBSERVED, conditions: [{ type: 'RightsEnforced', status: 'False' }] };
  const decision = decided(paused, unchecked as RecoveryPolicyStatus);
  expect(decision).toMatchObject({ reason: 'RightsNotEnforced' });
  expect(decision.permitted || whyRefused(decision)).toContain('create the Diagnosis again');
});

test('waits until somebody has found out since when authors are checked', () => {
  const { rightsEnforcedSince: _, ...status } = OBSERVED;
  expect(decided({}, status)).toMatchObject({ permitted: false, reason: 'RightsNotChecked' });
});

test.each([
  ['2026-01-05T10:59:59Z', {}, false],
  ['2026-01-05T11:00:00Z', {}, true],
  ['2026-01-05T10:59:59Z', { withoutAdmissionPolicies: 'Allow' }, true],
  ['2026-01-05T10:59:59Z', { paused: true }, false],
] as const)('created at %s, policies since 11:00, %j: %s', (createdAt, spec, permitted) => {
  const status = { ...OBSERVED, rightsEnforcedSince: '2026-01-05T11:00:00Z' };
  const policy = policyIn({ metadata: { generation: 2 }, spec, status });
  const decision = decideRecovery({ policy, slotFailures: [], createdAt, now: NOW });
  expect(decision.permitted).toBe(permitted);
  const why = decision.permitted ? undefined : whyRefused(decision);
  if (!permitted) expect(why).toMatch(/created before 2026-01-05T11:00:00Z.*create it again$/);
});

test('permits without enforced rights if the policy says so', () => {
  const status = { ...OBSERVED, conditions: [] };
  expect(decided({ withoutAdmissionPolicies: 'Allow' }, status)).toMatchObject({ permitted: true });
});

test('says what is wrong and what to do', () => {
  expect(messageOf(decided({}, OBSERVED, three))).toBe(
    'Repairs have stopped after 3 failed recoveries (the last on node web-3, Diagnosis default/web): ' +
      'find out why, then set spec.failuresResetTime of RecoveryPolicy default to now',
  );
  const windows = ['0 2 * * 1-5', '0 25 * * *'].map((schedule) => ({
    schedule,
    durationSeconds: 60,
  }));
  expect(messageOf(decided({ maintenanceWindows: windows }))).toBe(
    'Outside of the maintenance windows of the RecoveryPolicy; the next one opens at 2026-01-06T02:00:00Z; ' +
      'maintenance window "0 25 * * *" in time zone UTC is not valid: CronPattern: Invalid value for hour: 25',
  );
  expect(messageFor({ reason: 'RecoveryPaused', name: 'a $& name' })).toContain('a $& name is');
});

test('says when time alone changes it', () => {
  const open = { schedule: '30 11 * * *', durationSeconds: 3600 };
  const changesAt = new Date('2026-01-05T12:30:00Z');
  expect(decided({ maintenanceWindows: [open] })).toEqual({ permitted: true, slots: 3, changesAt });
  const later = { schedule: '0 13 * * *', durationSeconds: 3600 };
  expect(decided({ maintenanceWindows: [later] })).toMatchObject({
    permitted: false,
    changesAt: new Date('2026-01-05T13:00:00Z'),
  });
});
