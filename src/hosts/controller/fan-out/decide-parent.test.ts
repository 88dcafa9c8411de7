import { expect, test } from 'vitest';
import type { DiagnosisSpec, DiagnosisStatus } from '../../../pipeline/api/diagnosis.ts';
import type { DiagnosisDigest } from '../digests.ts';
import { childName } from './child-diagnosis.ts';
import { decideParent, decideSelected, type SeenNode } from './decide-parent.ts';

const NOW = new Date('2026-03-01T12:00:10Z');
const STARTED = '2026-03-01T12:00:00Z';
const SPEC: DiagnosisSpec = { operationSet: 'set', targetSelector: { nodeSelector: {} } };

const PARENT = { name: 'all', uid: 'parent' };

function digest(name: string, more: Partial<DiagnosisDigest>): DiagnosisDigest {
  return {
    namespace: 'default',
    name: childName(PARENT, name),
    uid: `uid-${name}`,
    resourceVersion: '7',
    isDeleted: false,
    operationSet: 'set',
    nodeName: name,
    hasPodReference: false,
    hasTargetSelector: false,
    parentUid: 'parent',
    isCancelled: false,
    isSuspended: false,
    deadlineSeconds: undefined,
    ttlSeconds: undefined,
    phase: '',
    result: undefined,
    createdTime: STARTED,
    startTime: undefined,
    endedAtMs: undefined,
    failure: undefined,
    trueConditions: new Set(),
    ...more,
  };
}

/** "a" was not created; "a:Running" and "a:Failed:Error" are the phases and results of Diagnoses. */
function node(text: string, more: Partial<DiagnosisDigest> = {}): SeenNode {
  const [name = '', phase, result] = text.split(':');
  const seen = { name, childName: childName(PARENT, name) };
  if (phase === undefined) return { ...seen, isCreated: false };
  return { ...seen, isCreated: true, child: digest(name, { phase, result, ...more }) };
}

function begun(...names: readonly string[]): DiagnosisStatus {
  const status = decideSelected(
    { status: { phase: 'Pending', startTime: STARTED }, now: NOW },
    { nodeNames: names, missing: [] },
  );
  if (!status) throw new Error('nothing is selected');
  return status;
}

function decided(texts: readonly string[], spec: Partial<DiagnosisSpec> = {}, now = NOW) {
  const nodes = texts.map((text) => node(text));
  const status = begun(...nodes.map(({ name }) => name));
  const decision = decideParent({ spec: { ...SPEC, ...spec }, status, nodes, now });
  if (decision.kind === 'select') throw new Error('selected twice');
  return decision;
}

const reasons = ({ conditions = [] }: DiagnosisStatus) => conditions.map(({ reason }) => reason);

test.each<[string, readonly string[], string, object]>([
  ['nothing is created', ['a', 'b'], '0/2', { waiting: 2, created: 0 }],
  ['one is created', ['a:', 'b'], '0/2', { waiting: 2, created: 1 }],
  ['the second was faster', ['a', 'b:Running'], '0/2', { waiting: 1, running: 1, created: 0 }],
  ['one is pending', ['a:Pending', 'b:Running'], '0/2', { waiting: 1, running: 1, created: 2 }],
  ['one has ended', ['a:Succeeded:Repaired', 'b:Running'], '1/2', { succeeded: 1, running: 1 }],
  ['one has failed', ['a:Failed:Error', 'b:Running'], '1/2', { failed: 1, running: 1 }],
  ['one is healthy', ['a:Failed:NothingFound', 'b:Running'], '1/2', { succeeded: 1, failed: 0 }],
])('while it runs: %s', (_, texts, progress, nodes) => {
  const { status } = decided(texts);
  expect(status).toMatchObject({ phase: 'Running', progress, nodes: { total: 2, ...nodes } });
  expect(status.endTime).toBeUndefined();
});

test.each<[readonly string[], string, string, string | undefined]>([
  [['a:Succeeded:Completed', 'b:Succeeded:Completed'], 'Succeeded', 'Completed', undefined],
  [['a:Succeeded', 'b:Succeeded'], 'Succeeded', 'Completed', undefined],
  [['a:Failed:NothingFound', 'b:Failed:NothingFound'], 'Succeeded', 'NothingFound', undefined],
  [['a:Succeeded:Repaired', 'b:Failed:NothingFound'], 'Succeeded', 'Repaired', undefined],
  [['a:Succeeded:Repaired', 'b:Failed:Found'], 'Succeeded', 'Found', undefined],
  [['a:Succeeded:Repaired', 'b:Failed:Refused'], 'Failed', 'Refused', '1 of 2 nodes failed'],
  [['a:Failed:Error', 'b:Failed:Refused'], 'Failed', 'Error', '2 of 2 nodes failed'],
  [['a:Failed', 'b:Succeeded:Repaired'], 'Failed', 'Error', '1 of 2 nodes failed'],
  // Somebody cancelled one of them, and not all.
  [['a:Failed:Cancelled', 'b:Succeeded:Repaired'], 'Failed', 'Cancelled', '1 of 2 nodes failed'],
])('at the end, %j is %s, %s', (texts, phase, result, why) => {
  const { status, create, change } = decided(texts);
  expect(status).toMatchObject({ phase, result, progress: '2/2', endTime: '2026-03-01T12:00:10Z' });
  expect(reasons(status)).toEqual([
    'NodesSelected',
    why === undefined ? 'DiagnosisComplete' : 'NodesFailed',
  ]);
  expect(status.conditions?.at(-1)?.message).toContain(why ?? 'completed');
  expect([create, change]).toEqual([[], []]);
});

test.each<[readonly string[], string | undefined]>([
  [['a:Running:WaitingForApproval', 'b:Running'], undefined],
  [['a:Running:WaitingForApproval', 'b:Running:WaitingForApproval'], 'WaitingForApproval'],
  [['a:Running:WaitingForApproval', 'b:Succeeded:Repaired'], 'WaitingForApproval'],
  [['a:Running:WaitingForApproval', 'b:'], 'WaitingForApproval'],
  [['a:Running', 'b:Failed:Error'], undefined],
])('before the end, the result of %j is %s', (texts, result) => {
  expect(decided(texts).status.result).toBe(result);
});

test('counts results, and lists the first nodes that failed with their reasons', () => {
  const names = Array.from({ length: 40 }, (_, at) => `n-${at}`);
  const nodes = names.map((name) =>
    node(`${name}:Failed:Error`, { failure: `no space on ${name}` }),
  );
  const decision = decideParent({ spec: SPEC, status: begun(...names), nodes, now: NOW });
  expect(decision).toMatchObject({ status: { nodes: { failed: 40, results: { Error: 40 } } } });
  const { failedNodes = [] } = 'status' in decision ? decision.status : {};
  expect(failedNodes).toHaveLength(20);
  expect(failedNodes[1]).toEqual({
    name: 'n-1',
    diagnosis: childName(PARENT, 'n-1'),
    message: 'no space on n-1',
  });
});

test('a Diagnosis that is being deleted, and one of somebody else, count as failed', () => {
  const nodes = [
    node('a:Running', { isDeleted: true }),
    { name: 'b', childName: 'all-b', isCreated: true, failure: 'the name is taken' },
  ];
  const decision = decideParent({ spec: SPEC, status: begun('a', 'b'), nodes, now: NOW });
  expect(decision).toMatchObject({
    status: {
      phase: 'Failed',
      result: 'Error',
      failedNodes: [
        { name: 'a', message: expect.stringContaining('was deleted') },
        { name: 'b', message: 'the name is taken' },
      ],
    },
  });
});

test('a cancel goes to all that have not ended, and creates no more', () => {
  const running = decided(['a:Running', 'b:Failed:Error', 'c'], { cancel: true });
  expect(running.create).toEqual([]);
  expect(running.change).toMatchObject([{ child: { nodeName: 'a' }, spec: { cancel: true } }]);
  expect(running.status).toMatchObject({ phase: 'Running', progress: '2/3' });
  const last = decided(['a:Failed:Cancelled', 'b:Failed:Error', 'c'], { cancel: true });
  expect(last.status).toMatchObject({ phase: 'Failed', result: 'Cancelled', nodes: { failed: 3 } });
  expect(reasons(last.status)).toContain('DiagnosisCancelled');
  // It came when everything had ended.
  const late = decided(['a:Succeeded:Repaired'], { cancel: true });
  expect(late.status).toMatchObject({ phase: 'Succeeded', result: 'Repaired' });
});

test('is cancelled before any node was selected', () => {
  const spec = { ...SPEC, cancel: true };
  expect(decideParent({ spec, status: {}, nodes: [], now: NOW })).toMatchObject({
    status: { phase: 'Failed', result: 'Cancelled' },
  });
});

test('a suspended one creates nothing and suspends its children, which go on with it', () => {
  const suspended = decided(['a:Running', 'b'], { suspend: true });
  expect(suspended.create).toEqual([]);
  expect(suspended.change).toMatchObject([{ spec: { suspend: true } }]);
  const nodes = [node('a:Running', { isSuspended: true })];
  expect(decideParent({ spec: SPEC, status: begun('a'), nodes, now: NOW })).toMatchObject({
    change: [{ spec: { suspend: false } }],
  });
});

test('ends at its deadline although a child does not, and cancels it', () => {
  const seconds = { deadlineSeconds: 10 };
  const { status, change, create } = decided(['a:Running', 'b', 'c:Succeeded:Repaired'], seconds);
  expect(status).toMatchObject({ phase: 'Failed', result: 'Error', progress: '1/3' });
  expect(reasons(status)).toContain('DeadlineExceeded');
  expect(create).toEqual([]);
  expect(change).toMatchObject([{ child: { nodeName: 'a' }, spec: { cancel: true } }]);
  // An earlier controller may have written the end only.
  const again = decideParent({ spec: SPEC, status, nodes: [node('a:Running')], now: NOW });
  expect(again).toMatchObject({ status, change: [{ spec: { cancel: true } }] });
});

test.each<[string, number | undefined, Partial<DiagnosisDigest>, object | undefined]>([
  ['is the same', 60, { deadlineSeconds: 60 }, undefined],
  [
    'is the same for one that started late',
    60,
    { startTime: '2026-03-01T12:00:09Z', deadlineSeconds: 60 },
    undefined,
  ],
  ['was extended', 120, { deadlineSeconds: 60 }, { deadlineSeconds: 120 }],
  ['was shortened', 30, { deadlineSeconds: 60 }, { deadlineSeconds: 30 }],
  ['was added', 60, {}, { deadlineSeconds: 60 }],
  ['was removed', undefined, { deadlineSeconds: 60 }, { deadlineSeconds: null }],
  [
    'counts from the start of the child',
    60,
    { startTime: '2026-03-01T12:00:08Z' },
    { deadlineSeconds: 52 },
  ],
])('passes a deadline on that %s', (_, deadlineSeconds, more, patch) => {
  const spec = deadlineSeconds === undefined ? SPEC : { ...SPEC, deadlineSeconds };
  const nodes = [node('a:Running', more)];
  const decision = decideParent({ spec, status: begun('a'), nodes, now: NOW });
  expect(decision).toMatchObject({ change: patch === undefined ? [] : [{ spec: patch }] });
});

test('starts, then selects, and waits for a minute while nothing is selected', () => {
  const start = decideParent({ spec: SPEC, status: {}, nodes: [], now: NOW });
  const status = { phase: 'Pending', startTime: '2026-03-01T12:00:10Z' } as const;
  expect(start).toMatchObject({ status, againMs: 0 });
  expect(decideParent({ spec: SPEC, status, nodes: [], now: NOW })).toEqual({ kind: 'select' });
  const suspended = decideParent({ spec: { ...SPEC, suspend: true }, status, nodes: [], now: NOW });
  expect(suspended).toMatchObject({ kind: 'go-on', status });
  const none = { nodeNames: [], missing: [] };
  expect(decideSelected({ status, now: NOW }, none)).toBeUndefined();
  const later = new Date(NOW.getTime() + 60_000);
  expect(decideSelected({ status, now: later }, none)).toMatchObject({
    phase: 'Failed',
    result: 'Error',
    conditions: [{ type: 'Failed', reason: 'NoNodeSelected' }],
  });
  // The clock was set back.
  const early = new Date(NOW.getTime() - 1_000);
  expect(decideParent({ spec: SPEC, status, nodes: [], now: early })).toMatchObject({
    status: { startTime: '2026-03-01T12:00:09Z' },
  });
});

test('names without a node have failed from the start, and stay so', () => {
  const missing = [{ name: 'gone', message: 'Node gone does not exist' }];
  const status = decideSelected(
    { status: { phase: 'Pending', startTime: STARTED }, now: NOW },
    { nodeNames: ['a'], missing },
  );
  expect(status).toMatchObject({
    phase: 'Running',
    progress: '1/2',
    nodeNames: ['a'],
    nodes: { total: 2, waiting: 1, failed: 1 },
    failedNodes: missing,
    conditions: [
      { message: '1 node is selected, with a Diagnosis of its own; 1 of 2 names matches no node' },
    ],
  });
  const nodes = [node('a:Succeeded:Repaired')];
  expect(decideParent({ spec: SPEC, status: status ?? {}, nodes, now: NOW })).toMatchObject({
    status: { phase: 'Failed', result: 'Error', progress: '2/2', failedNodes: missing },
  });
});

test('a selector that Kubernetes would refuse fails at once', () => {
  const status = { phase: 'Pending', startTime: STARTED } as const;
  const selected = { nodeNames: [], missing: [], problem: 'operator In of a needs values' };
  expect(decideSelected({ status, now: NOW }, selected)).toMatchObject({
    phase: 'Failed',
    conditions: [{ reason: 'NoNodeSelected' }],
  });
  expect(decideSelected({ status, now: NOW }, { ...selected, isTooMany: true })).toMatchObject({
    conditions: [{ reason: 'TooManyNodes' }],
  });
});
