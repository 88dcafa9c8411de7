import { describe, expect, test } from 'vitest';
import type { DiagnosisSpec, DiagnosisStatus } from '../api/diagnosis.ts';
import type { GraphNode } from '../api/operation-set.ts';
import type { StepResult } from '../api/results.ts';
import { adjacencyHash } from './adjacency-hash.ts';
import { afterStep } from './after-step.ts';
import { timeText, withCondition } from './conditions.ts';
import { decideNext, type SeenDiagnosis, type SeenSet } from './decide-next.ts';
import { pathsOf } from './paths.ts';

const START = Date.parse('2021-06-02T07:28:55Z');
const SEED: readonly GraphNode[] = [
  { id: 0, to: [1] },
  { id: 1, operation: 'pod-detail-collector', to: [2] },
  { id: 2, operation: 'mount-info-collector', to: [3] },
  { id: 3, operation: 'subpath-remount-diagnoser', to: [4] },
  { id: 4, operation: 'subpath-remount-recover' },
];
/** Two paths of three and of two steps that share none: a b c, and d e. */
const BRANCHED: readonly GraphNode[] = [
  { to: [1, 4] },
  { operation: 'a', to: [2] },
  { operation: 'b', to: [3] },
  { operation: 'c' },
  { operation: 'd', to: [5] },
  { operation: 'e' },
];

function setOf(list: readonly GraphNode[]): SeenSet {
  return { state: 'ready', hash: adjacencyHash(list), paths: pathsOf(list) };
}

function seenWith(changes: Partial<SeenDiagnosis> = {}): SeenDiagnosis {
  return {
    spec: { operationSet: 'set', nodeName: 'my-node' },
    status: {},
    hash: undefined,
    nodeName: 'my-node',
    set: setOf(BRANCHED),
    whyMissing: () => undefined,
    now: new Date(START),
    ...changes,
  };
}

function onlyMissing(...names: readonly string[]): SeenDiagnosis['whyMissing'] {
  return (name) => (names.includes(name) ? `Operation ${name} not found` : undefined);
}

/** Drives a Diagnosis as a host does it, and gives what was run and how it ended. */
function driven(
  first: SeenDiagnosis,
  run: (operation: string, count: number) => StepResult,
  before: (seen: SeenDiagnosis, count: number) => SeenDiagnosis = (seen) => seen,
  semaphore = 100,
): { readonly ran: readonly string[]; readonly status: DiagnosisStatus; readonly waits?: string } {
  const ran: string[] = [];
  let seen = first;
  for (let turn = 0; turn < semaphore; turn += 1) {
    seen = before(seen, ran.length);
    const decision = decideNext(seen);
    if (decision.kind === 'ended') return { ran, status: seen.status };
    if (decision.kind === 'wait') return { ran, status: seen.status, waits: decision.why };
    if (decision.kind === 'save') {
      seen = { ...seen, status: decision.status, hash: decision.hash ?? seen.hash };
      continue;
    }
    if (decision.kind === 'find-pod') throw new Error('no pod is named');
    const { operation = '' } = decision.node;
    ran.push(operation);
    const paths = seen.set.state === 'ready' ? seen.set.paths : [];
    seen = { ...seen, status: afterStep(seen.status, paths, run(operation, ran.length), seen.now) };
  }
  throw new Error('it never ended');
}

const good = (operation: string): StepResult => ({
  succeeded: true,
  results: { [operation]: 'x' },
});
const bad: StepResult = { succeeded: false, message: 'it answered 204' };
const conditionsOf = ({ conditions = [] }: DiagnosisStatus) =>
  conditions.map(({ type, reason }) => `${type} ${reason}`);

test('a Diagnosis of several nodes lists those that were not diagnosed', () => {
  const targetSelector = { nodeNames: ['my-node', 'elsewhere'] };
  const { status } = driven(seenWith({ spec: { operationSet: 'set', targetSelector } }), good);
  expect(status.phase).toBe('Succeeded');
  expect(status.conditions).toContainEqual({
    type: 'TargetsLeftOut',
    status: 'True',
    reason: 'TargetsLeftOut',
    message: expect.stringMatching(
      /^Not handled by this agent: node elsewhere; .*: create a Diagnosis on each/,
    ),
    lastTransitionTime: '2021-06-02T07:28:55Z',
  });
});

test('the documented graph of four subpath steps ends as documented', () => {
  const { ran, status } = driven(seenWith({ set: setOf(SEED) }), good);
  expect(ran).toEqual(SEED.slice(1).map(({ operation }) => operation));
  const { steps, operationResults, ...rest } = status;
  const lastTransitionTime = '2021-06-02T07:28:55Z';
  expect(rest).toEqual({
    adjacencyListHash: adjacencyHash(SEED),
    checkpoint: { nodeIndex: 3, pathIndex: 0 },
    conditions: [
      {
        lastTransitionTime,
        message: 'Diagnosis is accepted by agent on node my-node',
        reason: 'DiagnosisAccepted',
        status: 'True',
        type: 'Accepted',
      },
      {
        lastTransitionTime,
        message: 'Diagnosis is completed',
        reason: 'DiagnosisComplete',
        status: 'True',
        type: 'Complete',
      },
    ],
    phase: 'Succeeded',
    startTime: lastTransitionTime,
    endTime: lastTransitionTime,
    succeededPath: SEED.slice(1),
  });
  expect(Object.keys(operationResults ?? {})).toHaveLength(4);
  expect(steps?.map(({ outcome }) => outcome)).toEqual(Array(4).fill('Succeeded'));
  expect(steps?.map(({ startTime }) => startTime)).toEqual(Array(4).fill(lastTransitionTime));
});

test('after a failed path the next one starts at its first step, and the results stay', () => {
  const { ran, status } = driven(seenWith(), (operation) =>
    operation === 'b' ? bad : good(operation),
  );
  expect(ran).toEqual(['a', 'b', 'd', 'e']);
  expect(status).toMatchObject({
    phase: 'Succeeded',
    checkpoint: { pathIndex: 1, nodeIndex: 1 },
    succeededPath: [{ operation: 'd' }, { operation: 'e' }],
    operationResults: { a: 'x', d: 'x', e: 'x' },
  });
  // In full, not cut at the step that failed.
  expect(status.failedPaths).toEqual([pathsOf(BRANCHED)[0]]);
  expect(status.steps?.map((step) => `${step.operation} ${step.outcome}`)).toEqual([
    'a Succeeded',
    'b Failed',
    'c NotRun',
    'd Succeeded',
    'e Succeeded',
  ]);
});

test('a condition reports that all paths failed', () => {
  const { ran, status } = driven(seenWith(), (operation) =>
    operation === 'c' || operation === 'd' ? bad : good(operation),
  );
  expect(ran).toEqual(['a', 'b', 'c', 'd']);
  expect(status).toMatchObject({ phase: 'Failed', failedPaths: pathsOf(BRANCHED) });
  expect(status.succeededPath).toBeUndefined();
  expect(conditionsOf(status)).toEqual(['Accepted DiagnosisAccepted', 'Failed AllPathsFailed']);
  expect(status.conditions?.[1]?.message).toBe(
    'All 2 paths failed, last at d: it answered 204; see status.steps',
  );
  expect(status.steps?.[2]).toMatchObject({ outcome: 'Failed', message: 'it answered 204' });
});

test('results of a later step win', () => {
  const { status } = driven(seenWith(), (operation) => ({
    succeeded: true,
    results: { who: operation, [`${operation}.own`]: '1' },
  }));
  expect(status.operationResults).toEqual({ who: 'c', 'a.own': '1', 'b.own': '1', 'c.own': '1' });
});

/** After the time in which whatever was applied together must have come. */
const later = (seen: SeenDiagnosis): SeenDiagnosis =>
  seen.status.startTime ? { ...seen, now: new Date(START + 60_000) } : seen;

test('waits for an Operation that is applied later', () => {
  const { ran, waits } = driven(seenWith({ whyMissing: onlyMissing('b') }), good);
  expect(ran).toEqual(['a']);
  expect(waits).toBe('Operation b not found');
});

test('does not wait where no object can arrive', () => {
  const alone = { arrivalMs: 0, whyMissing: onlyMissing('b') };
  expect(driven(seenWith(alone), good).ran).toEqual(['a', 'd', 'e']);
  const { status } = driven(seenWith({ arrivalMs: 0, set: { state: 'missing' } }), good);
  expect(conditionsOf(status)).toContain('OperationSetNotFound OperationSetNotFound');
  // For kubectl wait --for=condition=Failed.
  expect(conditionsOf(status)).toContain('Failed OperationSetNotFound');
});

test('a missing Operation fails its path, not the Diagnosis', () => {
  const { ran, status } = driven(seenWith({ whyMissing: onlyMissing('b') }), good, later);
  expect(ran).toEqual(['a', 'd', 'e']);
  expect(status.phase).toBe('Succeeded');
  expect(conditionsOf(status)).toContain('OperationNotFound OperationNotFound');
  const only = driven(
    seenWith({ set: setOf(SEED), whyMissing: onlyMissing('pod-detail-collector') }),
    good,
    later,
  );
  expect(only.status.phase).toBe('Failed');
  expect(only.status.conditions?.map(({ message }) => message)).toContain(
    'Operation pod-detail-collector is not found',
  );
});

test('an Operation that is deleted later is missing from then on', () => {
  const { ran, status } = driven(seenWith(), good, (seen, count) =>
    count === 0 ? later(seen) : { ...later(seen), whyMissing: onlyMissing('a', 'b', 'c') },
  );
  expect(ran).toEqual(['a', 'd', 'e']);
  expect(status.phase).toBe('Succeeded');
});

test('a change of the OperationSet ends a running Diagnosis, and one before its start does not', () => {
  const changed = driven(seenWith(), good, (seen, count) =>
    count === 1 ? { ...seen, set: setOf(SEED) } : seen,
  );
  expect(changed.ran).toEqual(['a']);
  expect(changed.status.phase).toBe('Failed');
  expect(conditionsOf(changed.status)).toContain('OperationSetChanged OperationSetChanged');
  // A label that the user wrote decides nothing.
  expect(driven(seenWith({ hash: 'forged' }), good).status.phase).toBe('Succeeded');
});

test('restores a lost label, and still notices a change of the graph', () => {
  const begun = driven(seenWith(), good, (seen, count) =>
    count === 1 ? { ...seen, nodeName: undefined } : seen,
  );
  const seen = seenWith({ status: begun.status });
  expect(decideNext(seen)).toMatchObject({ kind: 'save', hash: adjacencyHash(BRANCHED) });
  expect(driven(seen, good)).toMatchObject({ ran: ['b', 'c'], status: { phase: 'Succeeded' } });
  const { ran, status } = driven({ ...seen, set: setOf(SEED) }, good);
  expect(ran).toEqual([]);
  expect(conditionsOf(status)).toContain('OperationSetChanged OperationSetChanged');
});

describe('waits for missing objects up to a limit', () => {
  const laterBy = (ms: number) => (seen: SeenDiagnosis) =>
    seen.status.startTime === undefined ? seen : { ...seen, now: new Date(START + ms) };

  test.each([
    [{ state: 'missing' }, 'OperationSet set not found', 'OperationSetNotFound'],
    [
      { state: 'not-ready', why: 'a cycle' },
      'OperationSet set is not ready: a cycle',
      'OperationSetNotReady',
    ],
    [
      { state: 'ready', hash: 'x', paths: [] },
      'OperationSet set is not ready: its graph has no path',
      'OperationSetNotReady',
    ],
  ] satisfies readonly (readonly [SeenSet, string, string])[])('%o', (set, waits, reason) => {
    expect(driven(seenWith({ set }), good, laterBy(59_000)).waits).toBe(waits);
    const { status } = driven(seenWith({ set }), good, laterBy(60_000));
    expect(status.phase).toBe('Failed');
    expect(conditionsOf(status)).toContain(`${reason} ${reason}`);
  });

  test('an OperationSet that is created after the Diagnosis is in time', () => {
    const early = driven(seenWith({ set: { state: 'missing' } }), good);
    expect(early.status.phase).toBe('Running');
    const { ran } = driven(seenWith({ status: early.status }), good);
    expect(ran).toEqual(['a', 'b', 'c']);
  });

  test.each([
    [{ operationSet: 'set' }, 'the spec names no node'],
    [
      { operationSet: 'set', podReference: { namespace: 'default', name: 'web' } },
      'pod default/web not found',
    ],
    [{ operationSet: 'set', targetSelector: {} }, 'no node matches spec.targetSelector'],
  ] satisfies readonly (readonly [DiagnosisSpec, string])[])('a node: %o', (spec, text) => {
    const seen = seenWith({ spec, nodeName: undefined });
    expect(driven(seen, good)).toMatchObject({ waits: text, status: { phase: 'Pending' } });
    const { status } = driven(seen, good, laterBy(60_000));
    expect(status).toMatchObject({ phase: 'Failed', conditions: [{ reason: 'TargetNotFound' }] });
    expect(status.conditions?.[0]?.message).toContain(text);
  });
});

describe('can be ended from outside', () => {
  const spec = { operationSet: 'set', nodeName: 'my-node' };
  const during = (changes: Partial<SeenDiagnosis>) => (seen: SeenDiagnosis, count: number) =>
    count === 2 ? { ...seen, ...changes } : seen;

  test('by cancelling', () => {
    const cancelled = during({ spec: { ...spec, cancel: true } });
    const { ran, status } = driven(seenWith(), good, cancelled);
    expect(ran).toEqual(['a', 'b']);
    expect(status).toMatchObject({ phase: 'Failed', operationResults: { a: 'x', b: 'x' } });
    expect(conditionsOf(status)).toContain('Failed DiagnosisCancelled');
  });

  test('by a deadline', () => {
    const limited = seenWith({ spec: { ...spec, deadlineSeconds: 10 } });
    const late = during({ now: new Date(START + 10_000) });
    const { ran, status } = driven(limited, good, late);
    expect(ran).toEqual(['a', 'b']);
    expect(conditionsOf(status)).toContain('Failed DeadlineExceeded');
    expect(driven(limited, good, during({ now: new Date(START + 9_000) })).ran).toHaveLength(3);
  });

  test('by a deadline that starts again when the clock was set back by months', () => {
    const limited = seenWith({ spec: { ...spec, deadlineSeconds: 10 } });
    const back = START - 100 * 86_400_000;
    const { ran, status } = driven(limited, good, during({ now: new Date(back) }));
    expect({ ran, status }).toMatchObject({ ran: { length: 3 }, status: { phase: 'Succeeded' } });
    expect(status.startTime).toBe(timeText(new Date(back)));
    const [set, late] = [during({ now: new Date(back) }), during({ now: new Date(back + 10_000) })];
    const suspended = { ...limited, spec: { ...limited.spec, suspend: true } };
    const waiting = driven(suspended, good, (seen, count) => set(seen, count + 2));
    const over = driven({ ...suspended, status: waiting.status }, good, (seen) => late(seen, 2));
    expect(conditionsOf(over.status)).toContain('Failed DeadlineExceeded');
  });

  test('or suspended', () => {
    const held = driven(seenWith(), good, during({ spec: { ...spec, suspend: true } }));
    expect(held).toMatchObject({ ran: ['a', 'b'], waits: 'spec.suspend is true' });
  });
});

test('an ended Diagnosis stays as it is', () => {
  const { status } = driven(seenWith(), good);
  const cancelled = { operationSet: 'set', nodeName: 'my-node', cancel: true };
  expect(decideNext(seenWith({ status, spec: cancelled }))).toEqual({ kind: 'ended' });
});

test('decides the same step again after a crash', () => {
  const { status } = driven(seenWith(), good, (seen, count) =>
    count === 1
      ? { ...seen, spec: { operationSet: 'set', nodeName: 'my-node', suspend: true } }
      : seen,
  );
  const seen = seenWith({ status, hash: adjacencyHash(BRANCHED) });
  expect(decideNext(seen)).toMatchObject({ kind: 'run', node: { operation: 'b' } });
  expect(decideNext(seen)).toEqual(decideNext(seen));
});

test('an invalid checkpoint ends the Diagnosis with a message', () => {
  const status = { phase: 'Running' as const, startTime: '2021-06-02T07:28:55Z' };
  const checkpoint = { pathIndex: 7, nodeIndex: 0 };
  const seen = seenWith({ status: { ...status, checkpoint }, hash: adjacencyHash(BRANCHED) });
  const { status: ended } = driven(seen, good);
  expect(ended).toMatchObject({ phase: 'Failed', conditions: [{ reason: 'SyncDiagnosisFailed' }] });
});

test('limits the list of steps, and counts the rest', () => {
  const path = Array.from({ length: 499 }, (_, at) => ({ id: at + 1, operation: 's' }));
  const paths = [path, path, path];
  const set: SeenSet = { state: 'ready', hash: 'h', paths };
  const { status } = driven(seenWith({ set }), () => ({
    succeeded: false,
    message: 'm'.repeat(9_999),
  }));
  expect(status).toMatchObject({ phase: 'Failed', stepsNotListed: 3 * 499 - 1000 });
  expect(status.steps).toHaveLength(1000);
  expect(status.steps?.[0]?.message).toMatch(/^m{4096} [.]{3} \(\d+ more characters\)$/);
});

test('shortens messages of steps at the limit of all messages', () => {
  const paths = Array.from({ length: 200 }, (_, at) => [{ id: at + 1, operation: 's' }]);
  const message = 'The server is away. '.repeat(500);
  const set: SeenSet = { state: 'ready', hash: 'h', paths };
  const { status } = driven(
    seenWith({ set }),
    () => ({ succeeded: false, message }),
    undefined,
    500,
  );
  const lengths = (status.steps ?? []).map((step) => step.message?.length ?? 0);
  expect(lengths[0]).toBeGreaterThan(4_000);
  expect(lengths.at(-1)).toBeLessThan(200);
  expect(lengths.reduce((sum, length) => sum + length)).toBeLessThan(150_000);
});

describe('a condition', () => {
  const had = {
    type: 'X',
    status: 'True' as const,
    reason: 'r',
    message: 'm',
    lastTransitionTime: 't',
  };
  const now = new Date(START);

  test('of the same values is unchanged', () => {
    expect(withCondition([had], { ...had, lastTransitionTime: 'other' }, now)).toEqual([had]);
  });
  test('of a new type is added', () => {
    expect(withCondition([had], { type: 'Y', status: 'True' }, now)).toEqual([
      had,
      { type: 'Y', status: 'True', lastTransitionTime: '2021-06-02T07:28:55Z' },
    ]);
  });
  test('has the time at which its status changed', () => {
    const [changed] = withCondition([had], { type: 'X', status: 'False' }, now);
    expect(changed).toEqual({
      ...had,
      status: 'False',
      lastTransitionTime: '2021-06-02T07:28:55Z',
    });
    const [stored] = withCondition([had], { type: 'X', status: 'True', reason: 'other' }, now);
    expect(stored).toMatchObject({ reason: 'other', lastTransitionTime: 't' });
  });
});
