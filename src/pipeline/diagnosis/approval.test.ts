import { expect, test } from 'vitest';
import type { DiagnosisSpec, DiagnosisStatus } from '../api/diagnosis.ts';
import { approvedDigests, digestOf, mayAct, plannedOf, type Wanted } from '../steps/plan.ts';
import { waitingFor, waitsForApproval } from './approval.ts';

const unmount = {
  kind: 'unmount',
  ...{ id: 216, parent: 22, device: '254:1', root: '/x', target: '/a' },
} as const;
const setAside = { kind: 'set-aside', podUid: 'u1', volume: 'data', inode: '7' } as const;
const WANTED: Wanted = {
  fault: 'a-fault',
  finding: '3f9a1c',
  summary: 'it is broken',
  actions: [unmount],
};
const WIDER = { ...WANTED, actions: [unmount, setAside] };
const ELSEWHERE = { ...WANTED, actions: [{ ...unmount, target: '/b' }] };
const NOW = new Date('2026-01-02T03:04:05Z');
const SPEC = { operationSet: 'some', recovery: 'Approval' } as const;

const statusAt = (nodeIndex: number) => ({ checkpoint: { pathIndex: 0, nodeIndex } });
const planFor = (wanted: readonly Wanted[], nodeIndex = 1) =>
  waitingFor({ planned: plannedOf(wanted) }, statusAt(nodeIndex), NOW);

/** Whether the approval in the spec permits what a repair wants. */
function approvedIn(spec: DiagnosisSpec, status: DiagnosisStatus): (wanted: Wanted) => boolean {
  const approved = approvedDigests(spec, status);
  return (wanted) => approved.has(digestOf(wanted));
}

test('the name of a plan depends on its actions, their targets and its step', () => {
  const { plan } = planFor([WANTED]);
  expect(planFor([{ ...WANTED, summary: 'in other words' }]).plan).toBe(plan);
  const others = [
    planFor([{ ...WANTED, finding: 'abcdef' }]),
    planFor([{ ...WANTED, fault: 'b-fault' }]),
    planFor([WIDER]),
    planFor([ELSEWHERE]),
    planFor([WANTED, WANTED]),
    planFor([WANTED], 2),
  ].map((status) => status.plan);
  expect(new Set([plan, ...others]).size).toBe(7);
});

test('a plan lists its actions, their targets and their findings', () => {
  const { plan, plannedActions } = planFor([WANTED]);
  expect(plannedActions).toEqual([
    {
      kind: 'unmount',
      fault: 'a-fault',
      finding: '3f9a1c',
      summary: 'it is broken',
      description: 'unmount /a',
      details: ['mount 216 of the kubelet, on device 254:1, whose source is gone'],
      digest: expect.stringMatching(/^[\da-f]{16}$/),
      plan,
    },
  ]);
});

test('only the stored plan can be approved, and only its actions', () => {
  const status = planFor([WANTED]);
  const { plan = '' } = status;
  const isApproved = approvedIn({ ...SPEC, approvedPlan: plan }, status);
  expect(isApproved(WANTED)).toBe(true);
  expect(isApproved({ ...WANTED, finding: 'abcdef' })).toBe(false);
  expect(isApproved({ ...WANTED, fault: 'b-fault' })).toBe(false);
  expect(isApproved(WIDER)).toBe(false);
  expect(isApproved(ELSEWHERE)).toBe(false);
  expect(isApproved({ ...WANTED, actions: [] })).toBe(false);
  expect(approvedIn({ ...SPEC, approvedPlan: 'another' }, status)(WANTED)).toBe(false);
  expect(approvedIn(SPEC, status)(WANTED)).toBe(false);
  // A plan that was carried out is no leave for the next one.
  const { plan: _, ...after } = status;
  expect(approvedIn({ ...SPEC, approvedPlan: plan }, after)(WANTED)).toBe(false);
  // Nor is what somebody wrote beside the name that was approved.
  const { plannedActions = [] } = planFor([ELSEWHERE]);
  const forged = { ...status, plannedActions: plannedActions.map((each) => ({ ...each, plan })) };
  expect(approvedIn({ ...SPEC, approvedPlan: plan }, forged)(ELSEWHERE)).toBe(false);
  const [planned] = status.plannedActions ?? [];
  const reworded = {
    ...status,
    plannedActions: [{ kind: '', ...planned, description: 'nothing' }],
  };
  expect(approvedIn({ ...SPEC, approvedPlan: plan }, reworded)(WANTED)).toBe(false);
});

test('two findings with the same short id are both approved', () => {
  const status = planFor([WANTED, ELSEWHERE]);
  const isApproved = approvedIn({ ...SPEC, approvedPlan: status.plan ?? '' }, status);
  expect([WANTED, ELSEWHERE].map(isApproved)).toEqual([true, true]);
});

test('waits only while approval is required', () => {
  const status = planFor([WANTED]);
  expect(waitsForApproval(SPEC, status)).toBe(`plan ${status.plan} waits for approval`);
  expect(waitsForApproval({ ...SPEC, recovery: 'Automatic' }, status)).toBeUndefined();
  expect(waitsForApproval({ ...SPEC, dryRun: true }, status)).toBeUndefined();
  expect(waitsForApproval(SPEC, {})).toBeUndefined();
});

test('a later plan replaces the earlier one, and other planned actions stay', () => {
  const before = { ...planFor([WANTED]), plannedActions: [{ kind: 'restore-symlink' }] };
  const first = waitingFor({ planned: plannedOf([WANTED]) }, before, NOW);
  const second = waitingFor({ planned: plannedOf([{ ...WANTED, finding: 'abcdef' }]) }, first, NOW);
  expect(second.plannedActions).toMatchObject([
    { kind: 'restore-symlink' },
    { kind: 'unmount', finding: 'abcdef', plan: second.plan },
  ]);
});

test.each([
  [true, { recovery: 'Automatic' }, {}],
  [true, {}, {}],
  [false, { recovery: 'Automatic', dryRun: true }, {}],
  [false, { recovery: 'Never' }, {}],
  [false, { recovery: 'Never', approvedPlan: 'a' }, { plan: 'a' }],
  [false, { recovery: 'Approval' }, {}],
  [false, { recovery: 'Approval' }, { plan: 'a' }],
  [false, { recovery: 'Approval', approvedPlan: 'b' }, { plan: 'a' }],
  [true, { recovery: 'Approval', approvedPlan: 'a' }, { plan: 'a' }],
] as const)('a repair may act: %s with %j and %j', (may, spec, status) => {
  expect(mayAct({ operationSet: 'some', ...spec }, status)).toBe(may);
});
