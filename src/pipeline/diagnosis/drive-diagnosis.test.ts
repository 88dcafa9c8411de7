import { expect, test } from 'vitest';
import { SyntheticWalk, walkOf } from '../../../test/synthetic-walk.ts';
import { stopWithin } from '../steps/step-to-run.ts';

const reasonOf = async (walk: SyntheticWalk) => (await walk.status()).conditions?.at(-1)?.reason;

test('runs the steps one after another', async () => {
  const walk = await walkOf('abc', { parameters: { p: '1' } });
  const inputs: object[] = [];
  walk.acts.set('c', ({ input, purpose }) => {
    inputs.push({ ...input, purpose });
    return { succeeded: true, results: { c: 'last', a: 'again' } };
  });
  expect(await walk.drive()).toMatchObject({ state: 'ended' });
  expect(walk.ran).toEqual(['a', 'b', 'c']);
  const { metadata, status } = await walk.stored();
  expect(metadata.labels).toHaveProperty('adjacency-list-hash');
  expect(status).toMatchObject({
    phase: 'Succeeded',
    observedGeneration: 1,
    checkpoint: { pathIndex: 0, nodeIndex: 2 },
    operationResults: { a: 'again', b: 'done', c: 'last' },
    succeededPath: [{ operation: 'a' }, { operation: 'b' }, { operation: 'c' }],
  });
  expect(status).not.toHaveProperty('largeResults');
  const { uid } = metadata;
  const reported = { p: '1', a: 'done', b: 'done', 'diagnosis.uid': uid, node: 'node-1' };
  expect(inputs).toEqual([
    expect.objectContaining({ ...reported, purpose: `${uid}/3/default/walk` }),
  ]);
  // An end is an end.
  expect(await walk.drive()).toMatchObject({ state: 'ended' });
  expect(walk.ran).toHaveLength(3);
});

test('stores the checkpoint before each step', async () => {
  const walk = await walkOf('ab c');
  const seen: object[] = [];
  for (const name of ['a', 'b', 'c']) {
    walk.acts.set(name, async () => {
      const { phase, checkpoint, currentStep } = await walk.status();
      seen.push({ name: currentStep?.operation, phase, ...checkpoint });
      return name === 'b' ? { succeeded: false, message: 'no' } : { succeeded: true, results: {} };
    });
  }
  await walk.drive();
  expect(seen).toEqual([
    { name: 'a', phase: 'Running', pathIndex: 0, nodeIndex: 0 },
    { name: 'b', phase: 'Running', pathIndex: 0, nodeIndex: 1 },
    { name: 'c', phase: 'Running', pathIndex: 1, nodeIndex: 0 },
  ]);
});

test('writes a result and the next checkpoint together', async () => {
  const walk = await walkOf('ab');
  const { resourceVersion } = await walk.store.list('Diagnosis');
  const events: object[] = [];
  await walk.drive();
  const stop = new AbortController();
  const options = { resourceVersion, stop: stop.signal };
  for await (const event of walk.store.watch('Diagnosis', options)) {
    const { status = {} } = event.type === 'BOOKMARK' ? {} : event.object;
    const { phase, checkpoint, operationResults } = status;
    events.push({ phase, checkpoint, operationResults });
    if (phase === 'Succeeded') stop.abort();
  }
  expect(events).toEqual([
    // The label that says which graph it is.
    { phase: undefined, checkpoint: undefined, operationResults: undefined },
    { phase: 'Running', checkpoint: { pathIndex: 0, nodeIndex: 0 }, operationResults: undefined },
    {
      phase: 'Running',
      checkpoint: { pathIndex: 0, nodeIndex: 1 },
      operationResults: { a: 'done' },
    },
    {
      phase: 'Succeeded',
      checkpoint: { pathIndex: 0, nodeIndex: 1 },
      operationResults: { a: 'done', b: 'done' },
    },
  ]);
});

test('a concurrent write during a step repeats no step and loses no result', async () => {
  const walk = await walkOf('abc');
  walk.acts.set('b', async () => {
    const object = await walk.stored();
    const metadata = { ...object.metadata, labels: { ...object.metadata.labels, by: 'hand' } };
    await walk.store.update({ ...object, metadata });
    return { succeeded: true, results: { b: 'stored' } };
  });
  expect(await walk.drive()).toMatchObject({ state: 'ended' });
  expect(walk.ran).toEqual(['a', 'b', 'c']);
  const { metadata, status } = await walk.stored();
  expect(metadata.labels).toMatchObject({ by: 'hand' });
  expect(status).toMatchObject({ phase: 'Succeeded', operationResults: { b: 'stored' } });
});

test('a cancel during a step preserves its result, and starts no other step', async () => {
  const walk = await walkOf('abc');
  walk.acts.set('b', async () => {
    await walk.change({ cancel: true });
    return { succeeded: true, results: { b: 'stored' } };
  });
  expect(await walk.drive()).toMatchObject({ state: 'ended' });
  expect(walk.ran).toEqual(['a', 'b']);
  expect(await walk.status()).toMatchObject({
    phase: 'Failed',
    operationResults: { a: 'done', b: 'stored' },
    conditions: [{}, { reason: 'DiagnosisCancelled' }],
    observedGeneration: 2,
  });
});

test('no step begins after the deadline, and a condition says so', async () => {
  const walk = await walkOf('ab', { deadlineSeconds: 10 });
  let rest: number | undefined;
  walk.now = () => new Date('2026-03-01T12:00:00Z');
  walk.acts.set('a', ({ restMs }) => {
    rest = restMs;
    walk.now = () => new Date('2026-03-01T12:00:11Z');
    return { succeeded: true, results: {} };
  });
  await walk.drive();
  // A step that is cut short by a timer which is a moment early would fail for itself.
  expect(rest).toBe(10_001);
  expect(walk.ran).toEqual(['a']);
  expect(await reasonOf(walk)).toBe('DeadlineExceeded');
});

test('a clock that is set back by months does not extend the deadline', async () => {
  const walk = await walkOf('ab', { deadlineSeconds: 10 });
  const rests: number[] = [];
  walk.now = () => new Date('2026-03-01T12:00:00Z');
  for (const name of ['a', 'b']) {
    walk.acts.set(name, ({ restMs, stop }) => {
      rests.push(restMs);
      // What a step does with it: a timer holds no months.
      expect(stopWithin(restMs, stop).aborted).toBe(false);
      walk.now = () => new Date('2025-11-01T12:00:00Z');
      return { succeeded: true, results: {} };
    });
  }
  await walk.drive();
  expect(rests).toEqual([10_001, 10_001]);
  expect(await walk.status()).toMatchObject({
    ...{ phase: 'Succeeded', startTime: '2025-11-01T12:00:00Z' },
  });
});

test('a last step that the deadline aborts fails the Diagnosis with DeadlineExceeded', async () => {
  const walk = await walkOf('a', { deadlineSeconds: 10 });
  walk.acts.set('a', () => {
    walk.now = () => new Date(Date.now() + 11_000);
    return { succeeded: false, message: 'cut short' };
  });
  await walk.drive();
  expect(await reasonOf(walk)).toBe('DeadlineExceeded');
  expect((await walk.status()).steps).toMatchObject([{ outcome: 'Failed', message: 'cut short' }]);
});

test('a suspended Diagnosis waits and then goes on', async () => {
  const walk = await walkOf('ab');
  walk.acts.set('a', async () => {
    await walk.change({ suspend: true });
    return { succeeded: true, results: {} };
  });
  expect(await walk.drive()).toMatchObject({ state: 'waits', why: 'spec.suspend is true' });
  expect((await walk.status()).observedGeneration).toBe(2);
  await walk.change({ suspend: false });
  expect(await walk.drive()).toMatchObject({ state: 'ended' });
  expect(walk.ran).toEqual(['a', 'b']);
});

test('a Diagnosis that is cancelled before its first step has an observedGeneration', async () => {
  const walk = await walkOf('a', { suspend: true });
  await walk.drive();
  await walk.change({ cancel: true });
  await walk.drive();
  expect(await walk.status()).toMatchObject({ phase: 'Failed', observedGeneration: 2 });
  // What is changed after its end is nothing to it.
  await walk.change({ parameters: {} });
  await walk.drive();
  expect(await walk.status()).toMatchObject({ phase: 'Failed', observedGeneration: 2 });
  expect(walk.ran).toEqual([]);
});

test('a Diagnosis that is deleted during a step is gone', async () => {
  const walk = await walkOf('ab');
  walk.acts.set('a', async () => {
    await walk.delete();
    await walk.diagnosis();
    return { succeeded: true, results: {} };
  });
  expect(await walk.drive()).toEqual({ state: 'gone' });
  expect(walk.ran).toEqual(['a']);
  // The new one of that name is untouched.
  expect((await walk.stored()).status).toBeUndefined();
});

test('another Diagnosis of the same name is not driven instead', async () => {
  const walk = await walkOf('a');
  const { uid } = (await walk.stored()).metadata;
  await walk.delete();
  await walk.diagnosis();
  expect(await walk.drive(uid)).toEqual({ state: 'gone' });
  expect(walk.ran).toEqual([]);
});

test('a shutdown stores nothing of an aborted step, and the next process runs it again', async () => {
  const walk = await walkOf('abc');
  walk.acts.set('b', () => {
    walk.shutdown.abort();
    return { succeeded: false, message: 'stopped' };
  });
  expect(await walk.drive()).toEqual({ state: 'interrupted' });
  expect(await walk.status()).toMatchObject({
    phase: 'Running',
    checkpoint: { pathIndex: 0, nodeIndex: 1 },
  });
  const next = new SyntheticWalk();
  next.store = walk.store;
  expect(await next.drive()).toMatchObject({ state: 'ended' });
  expect(next.ran).toEqual(['b', 'c']);
  expect(await next.status()).toMatchObject({ phase: 'Succeeded' });
});

test('waits for an OperationSet that is applied later', async () => {
  const walk = new SyntheticWalk();
  await walk.diagnosis();
  expect(await walk.drive()).toMatchObject({ state: 'waits' });
  await walk.graph('a');
  expect(await walk.drive()).toMatchObject({ state: 'ended' });
  expect((await walk.status()).phase).toBe('Succeeded');
});

test('reports an OperationSet that is missing or not ready', async () => {
  const missing = new SyntheticWalk();
  await missing.diagnosis();
  await missing.drive();
  missing.now = () => new Date(Date.now() + 61_000);
  await missing.drive();
  expect(await reasonOf(missing)).toBe('OperationSetNotFound');
  const wrong = await walkOf('a');
  const set = await wrong.store.get({ kind: 'OperationSet', name: 'some' });
  if (!set) throw new Error('no set');
  await wrong.store.update({
    ...set,
    spec: { adjacencyList: [{ to: [1] }, { operation: 'a', to: [1] }] },
  });
  wrong.now = () => new Date(Date.now() + 61_000);
  expect(await wrong.drive()).toMatchObject({ state: 'waits' });
  wrong.now = () => new Date(Date.now() + 130_000);
  await wrong.drive();
  expect(await reasonOf(wrong)).toBe('OperationSetNotReady');
});

test('says that nobody knows the built-in ones while there is no executor', async () => {
  const walk = await walkOf('a');
  walk.builtIns = { unknown: 'the executor of node web-3 is not connected' };
  const { lookup } = walk.context;
  expect(await lookup.operation('a')).toMatchObject({ state: 'ready' });
  for (const seen of [await lookup.operation('none'), await lookup.set('none')]) {
    expect(seen).toMatchObject({
      why: expect.stringMatching(/unknown whether a built-in one has: the executor of node web-3/),
    });
  }
  await walk.change({ operationSet: 'none' });
  expect(await walk.drive()).toMatchObject({ state: 'waits' });
  walk.now = () => new Date(Date.now() + 61_000);
  expect(await walk.drive()).toMatchObject({ state: 'ended' });
  expect((await walk.status()).conditions?.at(-1)?.message).toContain('web-3 is not connected');
});

test('a step that the old deadline has ended runs again if the deadline was extended meanwhile', async () => {
  const walk = await walkOf('a', { deadlineSeconds: 1 });
  const start = Date.now();
  walk.now = () => new Date(start + (walk.ran.length === 0 ? 0 : 5_000));
  walk.acts.set('a', async () => {
    if (walk.ran.length > 1) return { succeeded: true, results: {} };
    await walk.change({ deadlineSeconds: 600 });
    return { succeeded: false, message: 'stopped' };
  });
  await walk.drive();
  expect(walk.ran).toEqual(['a', 'a']);
  expect((await walk.status()).phase).toBe('Succeeded');
});

test('an edited graph ends the Diagnosis, and an edited label does not', async () => {
  const walk = await walkOf('ab');
  const object = await walk.stored();
  const labels = { 'adjacency-list-hash': 'made-up' };
  await walk.store.update({ ...object, metadata: { ...object.metadata, labels } });
  walk.acts.set('a', async () => {
    const set = await walk.store.get({ kind: 'OperationSet', name: 'some' });
    if (!set) throw new Error('no set');
    await walk.store.update({ ...set, spec: { adjacencyList: [{ to: [1] }, { operation: 'b' }] } });
    return { succeeded: true, results: { a: 'stored' } };
  });
  await walk.drive();
  expect(walk.ran).toEqual(['a']);
  expect(await reasonOf(walk)).toBe('OperationSetChanged');
  expect((await walk.status()).operationResults).toEqual({ a: 'stored' });
});

test('a replacement without labels during a step does not end the Diagnosis', async () => {
  const walk = await walkOf('ab');
  walk.acts.set('a', async () => {
    const { metadata, ...object } = await walk.stored();
    const { labels: _, ...rest } = metadata;
    await walk.store.update({ ...object, metadata: rest });
    return { succeeded: true, results: {} };
  });
  await walk.drive();
  expect((await walk.status()).phase).toBe('Succeeded');
  expect((await walk.stored()).metadata.labels).toHaveProperty('adjacency-list-hash');
});

test('after a failed path the next one starts at its first step', async () => {
  const walk = await walkOf('abc de');
  walk.acts.set('b', () => ({ succeeded: false, message: 'not here', results: { b: 'seen' } }));
  await walk.drive();
  expect(walk.ran).toEqual(['a', 'b', 'd', 'e']);
  const status = await walk.status();
  expect(status.phase).toBe('Succeeded');
  expect(status.operationResults).toEqual({ a: 'done', b: 'seen', d: 'done', e: 'done' });
  expect(status.steps?.map(({ operation, outcome }) => `${operation} ${outcome}`)).toEqual([
    'a Succeeded',
    'b Failed',
    'c NotRun',
    'd Succeeded',
    'e Succeeded',
  ]);
});

test('a step that two paths share runs in each, with one purpose', async () => {
  const walk = new SyntheticWalk();
  await walk.graph('a');
  const set = await walk.store.get({ kind: 'OperationSet', name: 'some' });
  if (!set) throw new Error('no set');
  // 0 -> a -> (b | c)
  const adjacencyList = [
    { to: [1] },
    { operation: 'a', to: [2, 3] },
    { operation: 'b' },
    { operation: 'c' },
  ];
  await walk.store.update({ ...set, spec: { adjacencyList } });
  for (const name of ['b', 'c']) await walk.operation(name);
  const purposes: string[] = [];
  walk.acts.set('a', ({ purpose }) => {
    purposes.push(purpose);
    return { succeeded: true, results: {} };
  });
  walk.acts.set('b', () => ({ succeeded: false, message: 'no' }));
  await walk.diagnosis();
  await walk.drive();
  expect(walk.ran).toEqual(['a', 'b', 'a', 'c']);
  // So what its first run did to the node is known to the second, which does not do it again.
  expect(new Set(purposes).size).toBe(1);
});

test('a missing Operation fails its path, not the Diagnosis', async () => {
  const walk = await walkOf('ab c');
  await walk.store.delete({ kind: 'Operation', name: 'b' });
  // It may still come, as may all that is applied together.
  expect(await walk.drive()).toMatchObject({ state: 'waits', why: 'Operation b not found' });
  walk.now = () => new Date(Date.now() + 61_000);
  await walk.drive();
  expect(walk.ran).toEqual(['a', 'c']);
  expect((await walk.status()).phase).toBe('Succeeded');
});

test('stores the node of a pod, and reports a node that is not this one', async () => {
  const pod = new SyntheticWalk();
  await pod.graph('a');
  const podReference = { namespace: 'shop', name: 'web-0' };
  const { spec } = await pod.diagnosis({ nodeName: undefined, podReference });
  expect(JSON.stringify(spec)).not.toContain('nodeName');
  await pod.drive();
  expect(await pod.stored()).toMatchObject({
    spec: { nodeName: 'node-1' },
    status: { phase: 'Succeeded', observedGeneration: 2 },
  });
  const other = await walkOf('a', { nodeName: 'node-2' });
  expect(await other.drive()).toMatchObject({
    state: 'waits',
    why: 'node node-2: not this node',
  });
  other.now = () => new Date(Date.now() + 61_000);
  await other.drive();
  expect(await reasonOf(other)).toBe('TargetNotFound');
  expect(other.ran).toEqual([]);
});
