import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { storeWith } from '../../../test/store-with.ts';
import { SyntheticWalk } from '../../../test/synthetic-walk.ts';
import type { DiagnosisStatus } from '../api/diagnosis.ts';
import { STORE_WAIT_MAX_MS } from '../store/limits.ts';
import type { Store, StoredObject } from '../store/store.ts';
import { newDiagnosis } from '../store/store-contract.ts';
import { StoreError } from '../store/store-error.ts';
import { IN_FLIGHT_MAX } from './limits.ts';
import { Runner } from './runner.ts';

const begun: { readonly walk: SyntheticWalk; readonly running: Promise<void> }[] = [];

/** A runner in the context of a walk, until the test ends. */
function start(walk: SyntheticWalk, ended: StoredObject[] = []): Runner {
  const onEnded = (object: StoredObject) => ended.push(object);
  const runner = new Runner({ ...walk.context, deletesExpired: true, onEnded });
  begun.push({ walk, running: runner.run() });
  return runner;
}

afterEach(async () => {
  vi.useRealTimers();
  for (const { walk, running } of begun.splice(0)) {
    walk.shutdown.abort();
    await running;
  }
});

/** Until something is so; a test that waits in vain ends by its time limit. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await sleep(5);
}

async function withGraph(paths = 'ab'): Promise<SyntheticWalk> {
  const walk = new SyntheticWalk();
  await walk.graph(paths);
  return walk;
}

const phaseIs = (walk: SyntheticWalk, phase: string) => async () =>
  (await walk.store.get({ kind: 'Diagnosis', namespace: 'default', name: 'walk' }))?.status
    ?.phase === phase;

test('drives Diagnoses that exist at the start, and later ones', async () => {
  const walk = await withGraph();
  await walk.diagnosis();
  const ended: StoredObject[] = [];
  const runner = start(walk, ended);
  await until(phaseIs(walk, 'Succeeded'));
  await walk.store.create(newDiagnosis('later'));
  await until(() => ended.length === 2);
  expect(ended.map(({ metadata }) => metadata.name)).toEqual(['walk', 'later']);
  expect(walk.ran).toEqual(['a', 'b', 'a', 'b']);
  expect(runner.counts).toEqual({ inFlight: 0, queued: 0, waiting: 0 });
});

test('limits the Diagnoses that run at once, and runs all of them', async () => {
  const walk = await withGraph('abc');
  let most = 0;
  let now = 0;
  const full = Promise.withResolvers<void>();
  walk.acts.set('b', async () => {
    now += 1;
    most = Math.max(most, now);
    if (now === IN_FLIGHT_MAX) full.resolve();
    await full.promise;
    await sleep(1);
    now -= 1;
    return { succeeded: true, results: {} };
  });
  const names = Array.from({ length: IN_FLIGHT_MAX + 250 }, (_, at) => `d-${at}`);
  const ended: StoredObject[] = [];
  const runner = start(walk, ended);
  await Promise.all(names.map((name) => walk.store.create(newDiagnosis(name))));
  await until(() => ended.length === names.length);
  expect(most).toBe(IN_FLIGHT_MAX);
  expect(walk.ran).toHaveLength(3 * names.length);
  expect(runner.counts).toEqual({ inFlight: 0, queued: 0, waiting: 0 });
});

test('a waiting Diagnosis goes on when its OperationSet or its spec changes', async () => {
  const walk = new SyntheticWalk();
  await walk.diagnosis();
  const runner = start(walk);
  await until(() => runner.counts.waiting === 1);
  await walk.graph('a');
  await until(phaseIs(walk, 'Succeeded'));
  const later = await walk.store.create(newDiagnosis('later', { suspend: true }));
  await until(() => runner.counts.waiting === 1);
  const stored = await walk.store.get({ kind: 'Diagnosis', namespace: 'default', name: 'later' });
  await walk.store.update({ ...later, ...stored, spec: { ...later.spec, suspend: false } });
  await until(() => runner.counts.waiting === 0 && walk.ran.length === 2);
});

test('a waiting Diagnosis ends at its deadline', async () => {
  const walk = await withGraph();
  await walk.diagnosis({ suspend: true, deadlineSeconds: 1 });
  start(walk);
  await until(phaseIs(walk, 'Failed'));
  expect((await walk.status()).conditions?.at(-1)?.reason).toBe('DeadlineExceeded');
});

test('an ended Diagnosis is deleted after its TTL, with its large results', async () => {
  const walk = await withGraph();
  walk.acts.set('a', () => ({ succeeded: true, results: { large: 'x'.repeat(100_000) } }));
  const { metadata } = await walk.diagnosis({ ttlSecondsAfterFinished: 1 });
  const ended: StoredObject[] = [];
  start(walk, ended);
  await until(phaseIs(walk, 'Succeeded'));
  const [{ file } = { file: '' }] = (await walk.status()).largeResults ?? [];
  const stored = async () => {
    const read = await walk.largeResults.read(metadata.uid, file);
    return read.ok && read.value;
  };
  expect(await stored()).toMatch(/^x+$/);
  await until(async () => (await walk.store.list('Diagnosis')).items.length === 0);
  await until(async () => (await stored()) === undefined);
  expect(ended).toHaveLength(1);
});

test('an expired Diagnosis is also deleted after a restart, and another one stays', async () => {
  const walk = await withGraph();
  await walk.diagnosis();
  await walk.drive();
  await walk.store.create(newDiagnosis('other', { ttlSecondsAfterFinished: 0, cancel: true }));
  const ended: StoredObject[] = [];
  start(walk, ended);
  await until(async () => (await walk.store.list('Diagnosis')).items.length === 1);
  expect((await walk.stored()).status?.phase).toBe('Succeeded');
  expect(ended).toHaveLength(1);
});

test('a cancel aborts the running step', async () => {
  const walk = await withGraph();
  walk.acts.set('a', async ({ stop }) => {
    await until(() => stop.aborted);
    return { succeeded: false, message: 'stopped' };
  });
  await walk.diagnosis();
  start(walk);
  await until(() => walk.ran.length === 1);
  await walk.change({ cancel: true });
  await until(phaseIs(walk, 'Failed'));
  expect((await walk.status()).conditions?.at(-1)?.reason).toBe('DiagnosisCancelled');
});

test('a deletion aborts the step, and another Diagnosis of that name runs', async () => {
  const walk = await withGraph('a');
  const uids: (string | undefined)[] = [];
  walk.acts.set('a', async ({ stop, input }) => {
    uids.push(input['diagnosis.uid']);
    if (uids.length === 1) await until(() => stop.aborted);
    return { succeeded: true, results: {} };
  });
  const first = await walk.diagnosis();
  start(walk);
  await until(() => walk.ran.length === 1);
  await walk.delete();
  const second = await walk.diagnosis();
  await until(phaseIs(walk, 'Succeeded'));
  expect(uids).toEqual([first.metadata.uid, second.metadata.uid]);
});

/** The events of Diagnoses are held back until they are released. */
function heldBack(store: Store): { readonly store: Store; readonly release: () => void } {
  const reported = Promise.withResolvers<void>();
  const watch: Store['watch'] = async function* (kind, options) {
    if (kind === 'Diagnosis') await reported.promise;
    yield* store.watch(kind, options);
  };
  return { store: storeWith(store, { watch }), release: () => reported.resolve() };
}

/** One that waits is replaced, and driven by its name, before an event of either is sent. */
async function replacedUnseen(walk: SyntheticWalk): Promise<string> {
  await walk.diagnosis({ suspend: true });
  const { store, release } = heldBack(walk.store);
  walk.store = store;
  const runner = start(walk);
  await until(() => runner.counts.waiting === 1);
  await walk.delete();
  const { metadata } = await walk.diagnosis();
  // Wakes all that wait.
  await walk.operation('another');
  const isIdle = () => Object.values(runner.counts).every((count) => count === 0);
  await until(() => walk.ran.length === 1 || isIdle());
  release();
  return metadata.uid;
}

test('a Diagnosis that replaces another before the watch reports it is not cancelled', async () => {
  const walk = await withGraph('a');
  walk.acts.set('a', async ({ stop }) => {
    await Promise.allSettled([sleep(100, undefined, { signal: stop })]);
    return stop.aborted
      ? { succeeded: false, message: 'stopped' }
      : { succeeded: true, results: {} };
  });
  await replacedUnseen(walk);
  await until(async () => Boolean((await walk.status()).conditions?.[1]));
  expect((await walk.status()).phase).toBe('Succeeded');
});

test('large results of a deleted Diagnosis are removed after its last step', async () => {
  const walk = await withGraph('a');
  const log: string[] = [];
  const { store, remove } = walk.largeResults;
  walk.largeResults = {
    ...walk.largeResults,
    store: (uid, ...rest) => {
      log.push(`store ${uid}`);
      return store(uid, ...rest);
    },
    remove: (uid) => {
      log.push(`remove ${uid}`);
      return remove(uid);
    },
  };
  walk.acts.set('a', async ({ stop }) => {
    await sleep(50);
    const { metadata } = await walk.stored();
    await walk.delete();
    await until(() => stop.aborted || log.includes(`remove ${metadata.uid}`));
    return { succeeded: true, results: { large: 'x'.repeat(100_000) } };
  });
  const uid = await replacedUnseen(walk);
  await until(() => log.includes(`store ${uid}`) && log.at(-1) !== `store ${uid}`);
  expect(log.at(-1)).toBe(`remove ${uid}`);
});

test('a cancel and a deadline take effect while the queue is full', async () => {
  const walk = await withGraph('a');
  const gate = Promise.withResolvers<void>();
  walk.acts.set('a', async () => {
    await gate.promise;
    return { succeeded: true, results: {} };
  });
  const ended: StoredObject[] = [];
  const runner = start(walk, ended);
  const late = { kind: 'Diagnosis', namespace: 'default', name: 'late' } as const;
  const changeLate = async (spec: object) => {
    const object = await walk.store.get(late);
    if (!object) throw new Error('it is gone');
    await walk.store.update({ ...object, spec: { ...object.spec, ...spec } });
  };
  await walk.store.create(newDiagnosis('late', { suspend: true }));
  await until(() => runner.counts.waiting === 1);
  const begunAt = Date.now();
  const names = Array.from({ length: IN_FLIGHT_MAX }, (_, at) => `d-${at}`);
  await Promise.all(names.map((name) => walk.store.create(newDiagnosis(name))));
  await until(() => walk.ran.length === IN_FLIGHT_MAX);
  await walk.diagnosis();
  await changeLate({ suspend: false });
  await until(() => runner.counts.queued === 2);
  await walk.change({ cancel: true });
  // Its time will be over while it is queued.
  await changeLate({ deadlineSeconds: Math.ceil((Date.now() - begunAt) / 1_000) + 1 });
  await until(() => ended.length === 2);
  const reasons = ended.map(({ metadata, status }) => {
    const { conditions = [] } = (status ?? {}) as DiagnosisStatus;
    return `${metadata.name} ${conditions.at(-1)?.reason}`;
  });
  expect(reasons.toSorted()).toEqual(['late DeadlineExceeded', 'walk DiagnosisCancelled']);
  expect(walk.ran).toHaveLength(IN_FLIGHT_MAX);
  gate.resolve();
  await until(() => ended.length === IN_FLIGHT_MAX + 2);
});

test('a Diagnosis that the store interrupted goes on later', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const walk = await withGraph('a');
  const { store } = walk;
  let isDamaged = true;
  const get: Store['get'] = async (key) => {
    if (isDamaged && key.kind === 'Diagnosis')
      throw new StoreError('Damaged', 'its row is damaged');
    return store.get(key);
  };
  await walk.diagnosis();
  walk.store = storeWith(store, { get });
  const runner = start(walk);
  await until(() => runner.counts.waiting === 1);
  expect(walk.errors).toEqual(['its row is damaged']);
  isDamaged = false;
  vi.advanceTimersByTime(STORE_WAIT_MAX_MS + 1);
  await until(phaseIs(walk, 'Succeeded'));
});

test('the next process goes on with unfinished Diagnoses', async () => {
  const walk = await withGraph('abc');
  walk.acts.set('b', async ({ stop }) => {
    await until(() => stop.aborted);
    return { succeeded: false, message: 'stopped' };
  });
  await Promise.all(['x', 'y', 'z'].map((name) => walk.store.create(newDiagnosis(name))));
  start(walk);
  await until(() => walk.ran.filter((name) => name === 'b').length === 3);
  walk.shutdown.abort();
  await begun.pop()?.running;
  const next = new SyntheticWalk();
  next.store = walk.store;
  const ended: StoredObject[] = [];
  start(next, ended);
  await until(() => ended.length === 3);
  expect(next.ran.toSorted()).toEqual(['b', 'b', 'b', 'c', 'c', 'c']);
  for (const { status } of ended) expect(status?.phase).toBe('Succeeded');
});

test('goes on after errors of the store', async () => {
  const walk = await withGraph('a');
  const { store } = walk;
  await walk.diagnosis();
  let failures = 2;
  const each: Store['each'] = async (kind) => {
    const listed = await store.each(kind);
    if (kind !== 'Diagnosis' || failures === 0) return listed;
    failures -= 1;
    return { ...listed, objects: unreadable() };
  };
  walk.store = storeWith(store, { each });
  start(walk);
  await until(phaseIs(walk, 'Succeeded'));
  expect(walk.errors).toEqual(['the disk does not answer', 'the disk does not answer']);
});

async function* unreadable(): AsyncGenerator<StoredObject> {
  yield* [];
  throw new StoreError('ServiceUnavailable', 'the disk does not answer');
}

test('lists again when the watch has expired', async () => {
  const walk = await withGraph('a');
  const { store } = walk;
  let watches = 0;
  const gone: Store['watch'] = async function* (kind, options) {
    watches += 1;
    // It sends nothing, and then that it is too late.
    if (watches <= 2) await sleep(20);
    if (watches <= 2) throw new StoreError('Expired', 'too long ago');
    yield* store.watch(kind, options);
  };
  walk.store = storeWith(store, { watch: gone });
  start(walk);
  await until(() => watches > 0);
  await walk.diagnosis();
  await until(phaseIs(walk, 'Succeeded'));
  expect(watches).toBeGreaterThan(2);
});

test('a defect ends one Diagnosis and no other', async () => {
  const walk = await withGraph('a');
  await walk.diagnosis({ operationSet: undefined });
  await walk.store.create(newDiagnosis('sound'));
  const ended: StoredObject[] = [];
  start(walk, ended);
  await until(phaseIs(walk, 'Failed'));
  await until(() => ended.length === 2);
  expect((await walk.status()).conditions?.at(-1)?.message).toContain('defect in kubediag');
  expect(walk.errors.join()).toContain('Diagnosis default/walk: defect in kubediag');
});

test('leaves Diagnoses of other nodes alone, whatever becomes of them', async () => {
  const walk = await withGraph('a');
  walk.otherNodes = 'elsewhere';
  const spec = { nodeName: 'node-2', ttlSecondsAfterFinished: 0 };
  const other = await walk.store.create(newDiagnosis('other', spec));
  const endTime = '2026-01-01T00:00:00Z';
  await walk.store.updateStatus({ ...other, status: { phase: 'Succeeded', endTime } });
  const running = await walk.store.create(newDiagnosis('running', { ...spec, deadlineSeconds: 1 }));
  const before = (await walk.store.list('Diagnosis')).items;
  start(walk);
  await walk.diagnosis();
  await until(phaseIs(walk, 'Succeeded'));
  const { items } = await walk.store.list('Diagnosis');
  expect(items.filter(({ metadata }) => metadata.name !== 'walk')).toEqual(before);
  // Assigned to this node, it runs here.
  await walk.store.update({ ...running, spec: { ...running.spec, nodeName: 'node-1' } });
  await until(() => walk.ran.length === 2);
});

test('needs no order of versions, and runs nothing again for its own writes', async () => {
  const walk = await withGraph('ab');
  const { store } = walk;
  const opaque = (version: string) => Buffer.from(version).toString('base64');
  const plain = (version: string) => Buffer.from(version, 'base64').toString();
  const shown = (object: StoredObject): StoredObject => withVersionOf(object, opaque);
  const given = (object: StoredObject): StoredObject => withVersionOf(object, plain);
  let reads = 0;
  walk.store = {
    create: async (object) => shown(await store.create(object)),
    get: async (key) => {
      if (key.kind === 'Diagnosis') reads += 1;
      const object = await store.get(key);
      return object && shown(object);
    },
    list: (kind, selection) => store.list(kind, selection),
    each: async (kind, selection) => {
      const { objects, resourceVersion } = await store.each(kind, selection);
      return { objects: mapped(objects, shown), resourceVersion: opaque(resourceVersion) };
    },
    update: async (object) => shown(await store.update(given(object))),
    updateStatus: async (object) => shown(await store.updateStatus(given(object))),
    delete: (key, version) => store.delete(key, version && plain(version)),
    // Reports every change a while after the write.
    watch: async function* (kind, options) {
      const resourceVersion = plain(options.resourceVersion);
      for await (const event of store.watch(kind, { ...options, resourceVersion })) {
        await sleep(20);
        if (event.type !== 'BOOKMARK') yield { ...event, object: shown(event.object) };
      }
    },
  };
  const ended: StoredObject[] = [];
  const runner = start(walk, ended);
  await until(() => runner.counts.waiting === 0);
  await sleep(20);
  await walk.diagnosis();
  await until(() => ended.length === 1);
  await until(() => Object.values(runner.counts).every((count) => count === 0));
  expect(walk.ran).toEqual(['a', 'b']);
  expect(ended).toHaveLength(1);
  expect(reads).toBe(1);
});

function withVersionOf(object: StoredObject, change: (version: string) => string): StoredObject {
  const { metadata } = object;
  return {
    ...object,
    metadata: { ...metadata, resourceVersion: change(metadata.resourceVersion) },
  };
}

async function* mapped<T>(objects: AsyncIterable<T>, change: (object: T) => T): AsyncGenerator<T> {
  for await (const object of objects) yield change(object);
}
