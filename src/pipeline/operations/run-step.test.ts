import { expect, test } from 'vitest';
import { answerOn, fixtureAt } from '../../../test/fault-fixtures.ts';
import { hostOn } from '../../../test/synthetic-host.ts';
import { SyntheticWalk } from '../../../test/synthetic-walk.ts';
import { Semaphore } from '../../lib/std/semaphore.ts';
import type { FaultReport } from '../../node/checkup/report.ts';
import { staleSubpathMount } from '../../node/faults/stale-subpath-mount/fault.ts';
import type { NodeReader } from '../../node/model/node-reader.ts';
import { RecordedNode } from '../../node/recording/recorded-node.ts';
import type { Intent, JournalRecord } from '../../node/repair/journal.ts';
import { builtIns } from './catalogue.ts';
import type { HostRequest, ProcessorHost } from './processor-host.ts';
import { podLookup, stepsOn } from './run-step.ts';

const BROKEN = 'broken-configmap';
/** Four of them are active. */
const SEVERAL = 'recorded-kubelet-1.18.8-active';

/** Active findings on a recorded node. */
async function activeIn(fixture: string): Promise<FaultReport['findings']> {
  const { findings } = await answerOn(staleSubpathMount, fixture);
  return findings.filter(({ state }) => state === 'active');
}

/** A recorded node with stale mounts, on which an act is only written down. */
class RecordedHost {
  readonly intents: Intent[] = [];
  readonly done: JournalRecord[] = [];
  readonly unmounted = new Set<string>();
  /** Of which findings the evidence was saved. */
  readonly saved: string[] = [];
  readonly fixture: string;

  constructor(fixture = BROKEN) {
    this.fixture = fixture;
  }

  withHost = async <T>(
    request: HostRequest,
    use: (host: ProcessorHost) => Promise<T>,
  ): Promise<T> => {
    const { recording, settings } = await fixtureAt(`stale-subpath-mount/${this.fixture}`);
    const recorded = new RecordedNode(recording);
    const node: NodeReader = {
      now: () => recorded.now(),
      ask: async (kind, question) => {
        const answer = await recorded.ask(kind, question);
        const isTable = 'path' in question && question.path.endsWith('/mountinfo');
        return isTable ? this.#withoutUnmounted(answer as string) : answer;
      },
    };
    const host = hostOn(node, {
      ...request,
      settings,
      saveEvidence: async ({ judged }, finding) => {
        this.saved.push(`${judged[0]?.fault.id} ${finding}`);
        return { path: '/stored' };
      },
      openRepair: async () => ({
        isOpen: true,
        settled: [],
        close: () => {},
        perform: async (intent) => {
          if (this.saved.length === 0) throw new Error('no evidence was saved');
          const entry = this.intents.push(intent);
          this.#wasDone(entry, intent);
          return { outcome: { state: 'done' }, entry };
        },
      }),
      earlierActions: async () => ({ isKnown: true, done: this.done }),
    });
    return use(host);
  };

  #withoutUnmounted(table: string): string {
    const isLeft = (line: string) => !this.unmounted.has(line.split(' ')[4] ?? '');
    return table.split('\n').filter(isLeft).join('\n');
  }

  #wasDone(entry: number, intent: Intent): void {
    if (intent.action.kind === 'unmount') this.unmounted.add(intent.action.target);
    const by = { pid: 812, user: 'ada' };
    const when = { at: '2026-01-02T03:04:05Z', boot: 'b1', event: 'concluded' } as const;
    this.done.push({ entry, ...when, by, ...intent, outcome: { state: 'done' } });
  }
}

/** The graph of the fault: our own OperationSet and Operations, which nobody has to apply. */
async function diagnosed(host: RecordedHost, spec: object): Promise<SyntheticWalk> {
  const walk = new SyntheticWalk();
  const run = stepsOn({ withHost: host.withHost });
  const both = ['stale-subpath-mount-diagnoser', 'stale-subpath-mount-recover'];
  for (const name of both) walk.acts.set(name, (step) => run(step));
  await walk.diagnosis({ operationSet: 'stale-subpath-mount', ...spec });
  return walk;
}

const active = await activeIn(BROKEN);
const actionTextFor = ({ id, subject }: (typeof active)[number]) => ({
  kind: 'unmount',
  fault: 'stale-subpath-mount',
  finding: id,
  description: `unmount ${subject.mount}`,
});
const results = 'recover.kubernetes.stale_subpath_mount.result';

test('repairs by default', async () => {
  const recorded = new RecordedHost();
  const walk = await diagnosed(recorded, {});
  await walk.drive();
  const { phase, actions, operationResults } = await walk.status();
  expect(phase).toBe('Succeeded');
  // One check saw all of them, so it is saved once, under the first.
  expect(recorded.saved).toEqual([`stale-subpath-mount ${active[0]?.id}`]);
  expect(actions).toMatchObject(active.map((each) => ({ ...actionTextFor(each), state: 'done' })));
  expect(operationResults?.[results]).toMatch(/^recovered /);
  const { uid } = (await walk.stored()).metadata;
  expect(recorded.intents.map(({ purpose }) => purpose)).toEqual(
    active.map(() => `${uid}/2/default/walk`),
  );
});

test('changes nothing with a dry run or recovery "Never"', async () => {
  const recorded = new RecordedHost();
  const dry = await diagnosed(recorded, { dryRun: true });
  await dry.drive();
  expect(await dry.status()).toMatchObject({
    phase: 'Succeeded',
    plannedActions: active.map(actionTextFor),
    operationResults: { [results]: expect.stringMatching(/^would recover /) },
  });
  const never = await diagnosed(recorded, { recovery: 'Never' });
  await never.drive();
  const { phase, steps } = await never.status();
  expect(phase).toBe('Failed');
  expect(steps?.at(-1)?.message).toContain('refused: spec.recovery is Never');
  expect(recorded.intents).toEqual([]);
  expect(recorded.saved).toEqual([]);
});

test('waits for approval with recovery "Approval", and lists its plan', async () => {
  const recorded = new RecordedHost();
  const walk = await diagnosed(recorded, { recovery: 'Approval' });
  expect(await walk.drive()).toMatchObject({
    state: 'waits',
    why: expect.stringMatching(/^plan [\da-f]{16} waits for approval$/),
  });
  const { phase, checkpoint, plan, plannedActions, conditions } = await walk.status();
  expect({ phase, checkpoint }).toEqual({
    phase: 'Running',
    checkpoint: { pathIndex: 0, nodeIndex: 1 },
  });
  expect(plannedActions).toEqual(
    active.map((each) => ({
      ...actionTextFor(each),
      summary: each.summary,
      details: [expect.stringMatching(/^mount \d+ of the kubelet, on device /) as string],
      digest: expect.stringMatching(/^[\da-f]{16}$/) as string,
      plan,
    })),
  );
  expect(conditions?.at(-1)).toMatchObject({
    type: 'WaitingForApproval',
    status: 'True',
    reason: 'ApprovalNeeded',
    message: expect.stringContaining(`Plan ${plan} waits for approval`),
  });
  // As often as it is asked, it looks no more until somebody agrees.
  const { length } = walk.ran;
  expect(await walk.drive()).toMatchObject({ state: 'waits' });
  expect(walk.ran).toHaveLength(length);
  expect(recorded.intents).toEqual([]);

  await walk.change({ approvedPlan: 'another' });
  expect(await walk.drive()).toMatchObject({ state: 'waits' });
  expect((await walk.status()).conditions?.at(-1)).toMatchObject({
    reason: 'OtherPlanApproved',
    message: expect.stringContaining(`set it to ${plan}`),
  });
  await walk.change({ approvedPlan: plan });
  expect(await walk.drive()).toMatchObject({ state: 'ended' });
  expect(recorded.intents).toHaveLength(active.length);
  const after = await walk.status();
  expect(after).toMatchObject({ phase: 'Succeeded', actions: [{ state: 'done' }] });
  expect(after).not.toHaveProperty('plan');
  const approval = after.conditions?.find(({ type }) => type === 'WaitingForApproval');
  expect(approval).toMatchObject({ status: 'False', reason: 'PlanApproved' });
});

test('an approval covers its plan only: further findings wait again', async () => {
  const recorded = new RecordedHost();
  const walk = await diagnosed(recorded, { recovery: 'Approval' });
  await walk.drive();
  const seen = await walk.status();
  // As if it had planned for another thing, which is gone by now.
  const object = await walk.stored();
  const plan = '0123456789abcdef';
  const plannedActions = seen.plannedActions?.map((each) => ({ ...each, finding: 'abcdef', plan }));
  await walk.store.updateStatus({ ...object, status: { ...seen, plan, plannedActions } });
  await walk.change({ approvedPlan: plan });
  expect(await walk.drive()).toMatchObject({ state: 'waits' });
  expect(recorded.intents).toEqual([]);
  const { plan: next, plannedActions: others } = await walk.status();
  expect({ next, others }).toEqual({ next: seen.plan, others: seen.plannedActions });
});

test('lists approved actions while others wait for approval', async () => {
  const several = await activeIn(SEVERAL);
  const [first, second, ...others] = several.map(({ id }) => id);
  const mount = several[1]?.subject.mount;
  if (first === undefined || second === undefined || !mount) throw new Error('too few findings');
  const recorded = new RecordedHost(SEVERAL);
  // One of them comes when the others were approved.
  recorded.unmounted.add(mount);
  const walk = await diagnosed(recorded, { recovery: 'Approval' });
  await walk.drive();
  const { plan } = await walk.status();
  recorded.unmounted.delete(mount);
  const object = await walk.stored();
  const key = 'diagnoser.kubernetes.stale_subpath_mount.findings';
  const operationResults = {
    ...(await walk.status()).operationResults,
    [key]: JSON.stringify(several),
  };
  await walk.store.updateStatus({ ...object, status: { ...object.status, operationResults } });
  await walk.change({ approvedPlan: plan });
  expect(await walk.drive()).toMatchObject({ state: 'waits' });
  const done = (count: number) =>
    Array.from({ length: count }, () => ({ kind: 'unmount', state: 'done' }));
  const { actions, plannedActions, plan: next } = await walk.status();
  expect(recorded.intents.map(({ finding }) => finding)).toEqual([first, ...others]);
  expect(actions).toMatchObject(done(several.length - 1));
  expect(plannedActions).toMatchObject([{ finding: second, plan: next }]);
  // The next attempt knows of them from the journal: they are reported once.
  await walk.change({ approvedPlan: next });
  expect(await walk.drive()).toMatchObject({ state: 'ended' });
  expect(await walk.status()).toMatchObject({ phase: 'Succeeded', actions: done(several.length) });
  expect(recorded.intents).toHaveLength(several.length);
});

test('a waiting Diagnosis ends by a cancel and by its deadline', async () => {
  const recorded = new RecordedHost();
  const walk = await diagnosed(recorded, { recovery: 'Approval' });
  await walk.drive();
  await walk.change({ cancel: true });
  expect(await walk.drive()).toMatchObject({ state: 'ended' });
  await nothingWaits(walk);
  const late = await diagnosed(recorded, { recovery: 'Approval', deadlineSeconds: 60 });
  await late.drive();
  late.now = () => new Date(Date.now() + 61_000);
  expect(await late.drive()).toMatchObject({ state: 'ended' });
  await nothingWaits(late);
  const never = await diagnosed(recorded, { recovery: 'Approval' });
  await never.drive();
  await never.change({ recovery: 'Never' });
  expect(await never.drive()).toMatchObject({ state: 'ended' });
  await nothingWaits(never);
  expect(recorded.intents).toEqual([]);
});

/** Nor does it say that anybody has approved. */
async function nothingWaits(walk: SyntheticWalk): Promise<void> {
  const { plan, conditions } = await walk.status();
  expect(plan).toBeUndefined();
  const approval = conditions?.find(({ type }) => type === 'WaitingForApproval');
  expect(approval).toMatchObject({ status: 'False', reason: 'PlanDropped' });
}

test('an approved action that was interrupted needs no second approval and is not repeated', async () => {
  const recorded = new RecordedHost();
  const walk = await diagnosed(recorded, { recovery: 'Approval' });
  await walk.drive();
  const { plan } = await walk.status();
  await walk.change({ approvedPlan: plan });
  // It was done, and then the process was killed: the checkpoint is still that of the step.
  for (const { id, subject } of active) {
    recorded.unmounted.add(subject.mount ?? '');
    recorded.done.push({
      entry: recorded.done.length + 1,
      at: '2026-01-02T03:04:05Z',
      event: 'concluded',
      boot: 'b1',
      by: { pid: 812, user: 'ada' },
      fault: 'stale-subpath-mount',
      finding: id,
      action: { kind: 'unmount', id: 1, parent: 1, device: '1:1', root: '/a', target: '/b' },
      outcome: { state: 'done' },
    });
  }
  expect(await walk.drive()).toMatchObject({ state: 'ended' });
  expect(await walk.status()).toMatchObject({
    phase: 'Succeeded',
    actions: active.map(() => ({ kind: 'unmount', state: 'done' })),
  });
  expect(recorded.intents).toEqual([]);
});

test('the deadline stops a step, and a stopped step does not begin', async () => {
  const heard: boolean[] = [];
  const run = stepsOn({
    withHost: async ({ stop }) => {
      await new Promise((resolve) => stop.addEventListener('abort', resolve, { once: true }));
      heard.push(stop.aborted);
      throw new Error('stopped');
    },
  });
  const processor = builtIns.operations.get('stale-subpath-mount-recover');
  if (!processor) throw new Error('no such Operation');
  const spec = { operationSet: 'some' };
  const diagnosis = { namespace: 'a', name: 'b', uid: 'c', nodeName: 'd', spec, status: {} };
  const step = { name: 'recover', processor, diagnosis, input: {}, purpose: 'p' };
  const { signal: stop } = new AbortController();
  await run({ ...step, restMs: 20, stop });
  expect(heard).toEqual([true]);
  expect(await run({ ...step, restMs: 1_000, stop: AbortSignal.abort() })).toEqual({
    succeeded: false,
    message: 'stopped before it began',
  });
});

test('a cancel and a deadline end a step that waits in the queue', async () => {
  const begun: string[] = [];
  const gate = Promise.withResolvers<void>();
  const run = stepsOn({
    withHost: async ({ purpose }, use) => {
      begun.push(purpose ?? '');
      await gate.promise;
      return use({} as ProcessorHost);
    },
  });
  const processor = builtIns.operations.get('stale-subpath-mount-recover');
  if (!processor) throw new Error('no such Operation');
  const spec = { operationSet: 'some' };
  const diagnosis = { namespace: 'a', name: 'b', uid: 'c', nodeName: 'd', spec, status: {} };
  const rest = { name: 'recover', processor, diagnosis, input: {} };
  const { signal: never } = new AbortController();
  const stop = new AbortController();
  const holder = run({ ...rest, purpose: 'first', restMs: 60_000, stop: never });
  const cancelled = run({ ...rest, purpose: 'cancelled', restMs: 60_000, stop: stop.signal });
  const late = run({ ...rest, purpose: 'late', restMs: 20, stop: never });
  stop.abort();
  const message = 'stopped before it began';
  expect(await cancelled).toEqual({ succeeded: false, message });
  expect(await late).toEqual({ succeeded: false, message });
  expect(begun).toEqual(['first']);
  gate.resolve();
  await holder;
});

test('one repair runs at a time, and a defect fails one step only', async () => {
  let now = 0;
  let most = 0;
  const run = stepsOn({
    withHost: async () => {
      now += 1;
      most = Math.max(most, now);
      await new Promise((resolve) => setTimeout(resolve, 5));
      now -= 1;
      throw new TypeError('x is not a function');
    },
  });
  const processor = builtIns.operations.get('stale-subpath-mount-recover');
  if (!processor) throw new Error('no such Operation');
  const spec = { operationSet: 'some' };
  const diagnosis = { namespace: 'a', name: 'b', uid: 'c', nodeName: 'd', spec, status: {} };
  const rest = { input: {}, restMs: 1_000, purpose: 'p', stop: new AbortController().signal };
  const steps = Array.from({ length: 5 }, () =>
    run({ name: 'recover', processor, diagnosis, ...rest }),
  );
  for (const each of await Promise.all(steps)) {
    expect(each).toMatchObject({
      succeeded: false,
      message: 'defect in kubediag, please report it: x is not a function',
    });
  }
  expect(most).toBe(1);
});

test('the lookup of a pod consents to no repair', async () => {
  const given: HostRequest[] = [];
  const lookup = podLookup(async (request) => {
    given.push(request);
    throw new Error('not opened');
  }, new Semaphore(1));
  const stop = new AbortController().signal;
  await expect(lookup({ namespace: 'web', name: 'web-1' }, 1_000, stop)).rejects.toThrow(
    'not opened',
  );
  const repair = { actions: [], touches: '', leaves: '', summary: '', fault: '', finding: '' };
  expect(await given[0]?.consent(repair)).toMatchObject({ given: 'none' });
});

test('a request without a consent does not compile', () => {
  // @ts-expect-error A caller says what may be changed.
  const request: HostRequest = { timeoutMs: 1_000, stop: new AbortController().signal };
  expect(request).not.toHaveProperty('consent');
});
