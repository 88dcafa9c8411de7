import { expect, test } from 'vitest';
import { observedPolicy, recoveryPolicy, slotLeases } from '../../../../test/recovery-objects.ts';
import { SyntheticApiServer } from '../../../../test/synthetic-api-server.ts';
import { FAULT, fleetNode, repairStep } from '../../../../test/synthetic-fleet.ts';
import { apiServer, failures, holders } from '../../../../test/synthetic-slots.ts';
import type { RecoveryMode } from '../../../pipeline/api/recovery-mode.ts';
import { policyIn } from '../../../pipeline/recovery/seen-policy.ts';
import type { RunStep, StepToRun } from '../../../pipeline/steps/step-to-run.ts';
import type { StepEnd } from './recovery-slots.ts';
import { repairSteps } from './repair-steps.ts';

const DONE = { succeeded: true, results: {} } as const;
const PLAN = { planned: [] };

interface OutcomeOptions {
  readonly policy?: boolean;
  readonly fault?: RecoveryMode;
  /** Of the condition RightsEnforced. */
  readonly rights?: 'True' | 'False' | 'Unknown';
  /** Since when the authors of Diagnoses are checked. */
  readonly since?: string;
}

/** What becomes of a step, and how often its node was asked to run it. */
async function outcomeOf(
  step: StepToRun,
  { policy = true, fault, rights = 'True', since }: OutcomeOptions = {},
) {
  const api = new SyntheticApiServer();
  if (policy) {
    const faults = fault ? [{ name: FAULT, recovery: fault }] : [];
    const object = recoveryPolicy({ faults });
    const metadata = { ...object.metadata, generation: 1 };
    const conditions = [{ type: 'RightsEnforced', status: rights, message: 'some reason' }];
    const rightsEnforcedSince = since === undefined ? {} : { rightsEnforcedSince: since };
    const status = { ...observedPolicy(1, 1), conditions, ...rightsEnforcedSince };
    api.put('/apis/diagnosis.kubediag.org/v1/recoverypolicies/default', {
      ...{ ...object, metadata, status },
    });
  }
  for (const lease of slotLeases(1)) {
    api.put(
      `/apis/coordination.k8s.io/v1/namespaces/kubediag/leases/${lease.metadata.name}`,
      lease,
    );
  }
  const seen: StepToRun[] = [];
  const isPlan = ({ spec, status }: StepToRun['diagnosis']) =>
    spec.recovery === 'Approval' && (!status.plan || spec.approvedPlan !== status.plan);
  const { step: run } = fleetNode(api, 'web-1', {
    run: async (each) => {
      seen.push(each);
      return isPlan(each.diagnosis) ? PLAN : DONE;
    },
  });
  const outcome = await run(step);
  return {
    outcome,
    modes: seen.map(({ diagnosis }) => diagnosis.spec.recovery),
    writes: api.writes,
  };
}

const approved = { status: { plan: 'p' } };

test('an absent policy means no repair, and a step that acts only then waits', async () => {
  const { outcome, modes } = await outcomeOf(repairStep('web-1'), { policy: false });
  expect(outcome).toMatchObject({
    notNow: { reason: 'RecoveryPolicyMissing', name: 'not found' },
  });
  expect(modes).toEqual([]);
});

test.each([
  ['that reads', repairStep('web-1', {}, { path: '/processor/somethingElse' })],
  ['of a dry run', repairStep('web-1', { dryRun: true })],
  ['of a Diagnosis that never repairs', repairStep('web-1', { recovery: 'Never' })],
])('a step %s needs neither policy nor slot', async (_, step) => {
  const { outcome, modes, writes } = await outcomeOf(step, { policy: false });
  expect(outcome).toEqual(DONE);
  expect(modes).toHaveLength(1);
  expect(writes).toEqual([]);
});

test('a script and a step with a server of its own need no slot', async () => {
  const script = { way: 'script', timeoutSeconds: 1, script: 'true', argKeys: [] } as const;
  const { processor } = repairStep('web-1');
  for (const other of [script, { ...processor, address: '10.0.0.1' }]) {
    const step = { ...repairStep('web-1'), processor: other };
    expect(await outcomeOf(step, { policy: false })).toMatchObject({ outcome: DONE });
  }
});

test('the policy asks for an approval that the Diagnosis does not', async () => {
  const { outcome, modes, writes } = await outcomeOf(repairStep('web-1'), { fault: 'Approval' });
  expect(outcome).toEqual({ ...PLAN, requiredBy: 'RecoveryPolicy' });
  expect(modes).toEqual(['Approval']);
  expect(writes).toEqual([]);
});

test('the Diagnosis asks for an approval itself', async () => {
  const step = repairStep('web-1', { recovery: 'Approval' });
  expect(await outcomeOf(step, { fault: 'Approval' })).toMatchObject({ outcome: PLAN });
  expect((await outcomeOf(step)).outcome).not.toHaveProperty('requiredBy');
});

test('an approved plan needs a slot too', async () => {
  const step = repairStep('web-1', { approvedPlan: 'p' }, approved);
  const { outcome, writes } = await outcomeOf(step, { fault: 'Approval' });
  expect(outcome).toEqual(DONE);
  expect(writes).toHaveLength(2);
});

test('a fault that the policy forbids to repair is refused by its name', async () => {
  const { outcome, modes } = await outcomeOf(repairStep('web-1'), { fault: 'Never' });
  expect(outcome).toMatchObject({
    succeeded: false,
    reason: 'Refused',
    message: expect.stringMatching(
      /^refused: RecoveryPolicy default permits no repair of some-fault/,
    ),
  });
  expect(modes).toEqual([]);
});

test('nobody has checked who asks for a repair: it is refused, and waits only while that is not known', async () => {
  const unenforced = await outcomeOf(repairStep('web-1'), { rights: 'False' });
  expect(unenforced.outcome).toMatchObject({
    reason: 'Refused',
    message: expect.stringMatching(
      /^refused: .*: some reason; .*[.]withoutAdmissionPolicies .*, then create the Diagnosis again$/,
    ),
  });
  expect(unenforced.modes).toEqual([]);
  const unknown = await outcomeOf(repairStep('web-1'), { rights: 'Unknown' });
  expect(unknown.outcome).toMatchObject({ notNow: { reason: 'RightsNotChecked' } });
});

test('a refusal does not count for the next step, after a person has allowed repairs', async () => {
  const api = new SyntheticApiServer();
  const path = '/apis/diagnosis.kubediag.org/v1/recoverypolicies/default';
  const object = recoveryPolicy();
  const conditions = [{ type: 'RightsEnforced', status: 'False', message: 'some reason' }];
  const stored = {
    ...{ ...object, metadata: { ...object.metadata, generation: 1 } },
    status: { ...observedPolicy(1, 1), conditions },
  };
  api.put(path, stored);
  const [lease] = slotLeases(1);
  const slot = '/apis/coordination.k8s.io/v1/namespaces/kubediag/leases/kubediag-recovery-0';
  api.put(slot, lease ?? {});
  const node = fleetNode(api, 'web-1', { run: async () => DONE });
  expect(await node.step(repairStep('web-1'))).toMatchObject({ reason: 'Refused' });
  api.put(path, { ...stored, spec: { withoutAdmissionPolicies: 'Allow' } });
  expect(await node.step(repairStep('web-1'))).toEqual(DONE);
});

test('a step whose run throws releases its slot', async () => {
  const api = new SyntheticApiServer();
  const object = recoveryPolicy();
  api.put('/apis/diagnosis.kubediag.org/v1/recoverypolicies/default', {
    ...{ ...object, metadata: { ...object.metadata, generation: 1 } },
    status: observedPolicy(1, 1),
  });
  const [lease] = slotLeases(1);
  const path = '/apis/coordination.k8s.io/v1/namespaces/kubediag/leases/kubediag-recovery-0';
  api.put(path, lease ?? {});
  const defect = new Error('a defect');
  const node = fleetNode(api, 'web-1', { run: () => Promise.reject(defect) });
  await expect(node.step(repairStep('web-1'))).rejects.toBe(defect);
  expect(api.objects.get(path)).toMatchObject({ spec: { holderIdentity: '' } });
});

test.each(['agent stops', 'Diagnosis is cancelled', 'executor does not come back'])(
  'a repair that gives no answer counts as failed, unless the agent stops: the %s',
  async (why) => {
    const ends: StepEnd[] = [];
    const [shutdown, cancel] = [new AbortController(), new AbortController()];
    const stop = AbortSignal.any([shutdown.signal, cancel.signal]);
    const policy = policyIn({ metadata: { generation: 1 }, spec: {}, status: {} });
    if (policy.state !== 'usable') throw new Error(policy.why);
    const end = async (ending: StepEnd) => void ends.push(ending);
    const turn = { lease: 'kubediag-recovery-0', lost: new AbortController().signal, end };
    const run = repairSteps(
      async ({ onUnanswered }) => {
        if (why === 'agent stops') shutdown.abort();
        if (why === 'Diagnosis is cancelled') cancel.abort();
        onUnanswered?.();
        return { succeeded: false, message: 'no answer' };
      },
      {
        slots: { begin: async () => ({ policy, turn }) },
        repairs: async () => new Map([['/processor/someRecover', FAULT]]),
        earlierActionsFor: async () => ({ isKnown: false, why: 'it is silent' }),
        shutdown: shutdown.signal,
      },
    );
    await run({ ...repairStep('web-1'), stop });
    const failure = { nodeName: 'web-1', diagnosis: 'default/web' };
    const counts = why !== 'agent stops';
    expect(ends).toMatchObject([
      { isAnswered: false, hasSucceeded: false, ...(counts ? { failure } : {}) },
    ]);
    expect(ends[0]?.failure !== undefined).toBe(counts);
  },
);

test('a plan whose record has a failed action is no success: the slot waits for the journal', async () => {
  const api = apiServer(1);
  const record = { actions: [{ kind: 'unmount', state: 'failed' as const }] };
  const run: RunStep = async () => ({ planned: [], record });
  const settle = async () => ({ isSettled: false as const, why: 'it acts' });
  const node = fleetNode(api, 'web-1', { run, settle });
  expect(await node.step(repairStep('web-1'))).toHaveProperty('planned');
  expect(holders(api)).toEqual(['web-1']);
  expect(failures(api)).toHaveLength(1);
});

test('a Diagnosis that is older than the check of its author is refused', async () => {
  const step = repairStep('web-1');
  const since = '2026-01-05T11:00:00Z';
  const created = (createdAt: string) => ({
    ...step,
    diagnosis: { ...step.diagnosis, createdAt },
  });
  const older = await outcomeOf(created('2026-01-05T10:59:59Z'), { since });
  expect(older.outcome).toMatchObject({
    reason: 'Refused',
    message: expect.stringMatching(
      /^refused: Cannot determine whether the author .*create it again$/,
    ),
  });
  expect((await outcomeOf(created(since), { since })).outcome).toEqual(DONE);
});

test('a step waits for an executor that has not connected: an earlier attempt may have acted', async () => {
  let runs = 0;
  const run = async () => {
    runs += 1;
    return DONE;
  };
  const node = fleetNode(new SyntheticApiServer(), 'web-1', { run, hasExecutor: false });
  const waits = { notNow: { reason: 'ExecutorMissing', name: '' }, againMs: expect.any(Number) };
  expect(await node.step(repairStep('web-1'))).toEqual(waits);
  expect(runs).toBe(0);
});

test('a repair that no executor got waits too, and its slot stays until the journal is settled', async () => {
  const api = apiServer(1);
  const run: RunStep = async ({ onNotSent }) => {
    onNotSent?.();
    return { succeeded: false, message: 'no executor' };
  };
  const settle = async () => ({ isSettled: false as const, why: 'no executor' });
  const node = fleetNode(api, 'web-1', { run, settle });
  expect(await node.step(repairStep('web-1'))).toMatchObject({
    notNow: { reason: 'ExecutorMissing' },
  });
  expect(holders(api)).toEqual(['web-1']);
  expect(failures(api)).toEqual([]);
});
