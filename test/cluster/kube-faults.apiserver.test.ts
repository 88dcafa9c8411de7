import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { openKubeClient } from '../../src/pipeline/kube/kube-client.ts';
import { kubeStore } from '../../src/pipeline/kube/kube-store.ts';
import { Lease } from '../../src/pipeline/kube/lease.ts';
import { follow } from '../../src/pipeline/store/follow.ts';
import type { Store, StoredObject } from '../../src/pipeline/store/store.ts';
import { answerOf, retried, type StoreAnswer } from '../../src/pipeline/store/store-answer.ts';
import { describeStore, newDiagnosis } from '../../src/pipeline/store/store-contract.ts';
import { type ApiProxy, startApiProxy } from '../rig/api-proxy.ts';
import { type ApiServer, startApiServer } from '../rig/api-server.ts';
import { storeWith } from '../store-with.ts';

let api: ApiServer;
let proxy: ApiProxy;

beforeAll(async () => {
  api = await startApiServer();
  proxy = await startApiProxy(api);
});

afterAll(async () => {
  await proxy.stop();
  await api.stop();
});

beforeEach(async () => {
  proxy.decide = () => 'pass';
  await api.clear();
});

/** The JSON report of vitest, as far as it is read here. */
interface ClockReport {
  readonly success: boolean;
  readonly testResults: readonly {
    /** By the clock of the process that ran the file. */
    readonly startTime: number;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

/** A store of its own client, over the proxy. */
function storeOverProxy(): Store {
  const client = openKubeClient(proxy.access);
  onTestFinished(() => client.close());
  return kubeStore(client);
}

const never = { shutdown: new AbortController().signal };
const keyOf = (name: string) => ({ kind: 'Diagnosis', namespace: 'default', name }) as const;

async function value<T>(answer: Promise<StoreAnswer<T>>): Promise<T> {
  const settled = await answer;
  if (!settled.ok) throw settled.error;
  return settled.value;
}

/** The versions of all Diagnoses, as they are and as a follower of the store has seen them. */
class Mirror {
  readonly #store: Store;
  readonly versions = new Map<string, string>();
  lists = 0;
  readonly #stop = new AbortController();
  readonly #following: Promise<void>;

  constructor(store: Store) {
    this.#store = store;
    const put = ({ metadata }: StoredObject) => {
      this.versions.set(metadata.name, metadata.resourceVersion);
    };
    this.#following = follow(store, 'Diagnosis', {
      onList: async (objects) => {
        const listed: StoredObject[] = [];
        for await (const object of objects) listed.push(object);
        this.lists += 1;
        this.versions.clear();
        for (const object of listed) put(object);
      },
      onEvent: ({ type, object }) => {
        if (type === 'DELETED') this.versions.delete(object.metadata.name);
        else put(object);
      },
      stop: this.#stop.signal,
    });
    onTestFinished(async () => {
      this.#stop.abort();
      await this.#following;
    });
  }

  async isCurrent(): Promise<boolean> {
    const { items } = await value(retried(() => this.#store.list('Diagnosis'), never));
    const wanted = items.map(({ metadata: { name, resourceVersion } }) => [name, resourceVersion]);
    return isDeepStrictEqual(this.versions, new Map(wanted as [string, string][]));
  }
}

/**
 * Creates Diagnoses, counts in their statuses and deletes every third, as the driver does: a temporary
 * error is retried, and after a conflict the object is read and decided about again.
 */
async function work(store: Store, count: number, pauseMs = 0): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    const name = `work-${at}`;
    const created = await retried(() => store.create(newDiagnosis(name)), never);
    if (!created.ok && created.error.reason !== 'AlreadyExists') throw created.error;
    for (const step of ['1', '2', '3']) await writeStep(store, name, step);
    if (at % 3 === 0) {
      const deleted = await retried(() => store.delete(keyOf(name)), never);
      if (!deleted.ok && deleted.error.reason !== 'NotFound') throw deleted.error;
    }
    await sleep(pauseMs);
  }
}

async function writeStep(store: Store, name: string, step: string): Promise<void> {
  for (;;) {
    const object = await value(retried(() => store.get(keyOf(name)), never));
    if (!object) throw new Error(`${name} is missing`);
    const { operationResults: results = {} } = (object.status ?? {}) as {
      readonly operationResults?: Readonly<Record<string, string>>;
    };
    if (Object.hasOwn(results, step)) return;
    const status = { ...object.status, operationResults: { ...results, [step]: name } };
    const written = await retried(() => store.updateStatus({ ...object, status }), never);
    if (written.ok) return;
    if (written.error.reason !== 'Conflict') throw written.error;
  }
}

async function expectAllWritten(store: Store, mirror: Mirror, count: number): Promise<void> {
  const { items } = await value(retried(() => store.list('Diagnosis'), never));
  const results = items.map(({ metadata: { name }, status }) => [name, status?.operationResults]);
  const names = Array.from({ length: count }, (_, at) => `work-${at}`);
  const left = names.filter((_, at) => at % 3 !== 0).toSorted();
  expect(results).toEqual(left.map((name) => [name, { 1: name, 2: name, 3: name }]));
  await expect.poll(() => mirror.isCurrent(), { timeout: 60_000 }).toBe(true);
}

test('follows every change and loses no write while the API server is killed and restarted', async () => {
  const store = storeOverProxy();
  const mirror = new Mirror(store);
  const working = work(store, 30, 300);
  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    await sleep(1_000);
    await api.part.stop(signal);
    await api.part.start();
    await api.ready();
  }
  await working;
  await expectAllWritten(store, mirror, 30);
});

test('goes on when etcd was paused', async () => {
  const store = storeOverProxy();
  const mirror = new Mirror(store);
  const working = work(store, 20, 100);
  await sleep(500);
  api.etcd.pause();
  await sleep(5_000);
  api.etcd.resume();
  await working;
  await expectAllWritten(store, mirror, 20);
});

test('misses nothing when streams are cut in the middle of a line', async () => {
  const store = storeOverProxy();
  let watches = 0;
  proxy.decide = (_, url) => {
    if (!url.searchParams.has('watch')) return 'pass';
    watches += 1;
    return watches % 3 === 0 ? 'pass' : 'cut';
  };
  const mirror = new Mirror(store);
  await expect.poll(() => watches).toBe(1);
  await work(store, 20, 50);
  await expectAllWritten(store, mirror, 20);
  expect(watches).toBeGreaterThan(2);
  // It went on from the last event each time.
  expect(mirror.lists).toBe(1);
});

test('writes each step once although answers are lost', async () => {
  const store = storeOverProxy();
  let writes = 0;
  proxy.decide = (method) => {
    if (method === 'GET') return 'pass';
    writes += 1;
    return writes % 2 === 0 ? 'lose-answer' : 'pass';
  };
  const mirror = new Mirror(store);
  await work(store, 12);
  await expectAllWritten(store, mirror, 12);
});

test('waits as long as a server asks that sends 429', async () => {
  const store = storeOverProxy();
  proxy.decide = () => ({ code: 429, headers: { 'Retry-After': '2' } });
  const refused = await answerOf(store.get(keyOf('one')));
  expect(refused).toMatchObject({ error: { reason: 'TooManyRequests', retryAfterMs: 2000 } });
  let asked = 0;
  let last = performance.now();
  const pauses: number[] = [];
  proxy.decide = () => {
    asked += 1;
    pauses.push(performance.now() - last);
    last = performance.now();
    return asked <= 2 ? { code: 429, headers: { 'Retry-After': '1' } } : 'pass';
  };
  expect(await value(retried(() => store.create(newDiagnosis('one')), never))).toBeDefined();
  for (const pause of pauses.slice(1)) expect(pause).toBeGreaterThanOrEqual(950);
});

test('lists again when its version has expired, and lists on when a page has', async () => {
  const store = storeOverProxy();
  const names = Array.from({ length: 130 }, (_, at) => `n${String(at).padStart(3, '0')}`);
  await Promise.all(names.map((name) => store.create(newDiagnosis(name))));
  const mirror = new Mirror(store);
  await expect.poll(() => mirror.versions.size).toBe(130);
  // The watch ends with the API server, and cannot come back before etcd has dropped its version.
  proxy.decide = (_, url) => (url.searchParams.has('watch') ? { code: 503 } : 'pass');
  const { objects, resourceVersion } = await store.each('Diagnosis');
  const iterator = objects[Symbol.asyncIterator]();
  const seen: string[] = [];
  const readOne = async (): Promise<boolean> => {
    const next = await iterator.next();
    if (!next.done) seen.push(next.value.metadata.name);
    return !next.done;
  };
  await readOne();
  await api.part.stop('SIGKILL');
  await api.part.start();
  await api.ready();
  await store.delete(keyOf('n120'));
  await store.create(newDiagnosis('late'));
  await api.compact();
  // Only the cache of the API server would still have the old versions.
  await api.part.stop('SIGTERM');
  await api.part.start();
  await api.ready();
  while (await readOne());
  expect(new Set(seen)).toEqual(new Set(names.filter((name) => name !== 'n120')));
  proxy.decide = () => 'pass';
  const watched = store.watch('Diagnosis', { resourceVersion, stop: never.shutdown });
  const first = answerOf(watched[Symbol.asyncIterator]().next());
  expect(await first).toMatchObject({ error: { reason: 'Expired' } });
  await expect.poll(() => mirror.isCurrent(), { timeout: 60_000 }).toBe(true);
  expect(mirror.lists).toBe(2);
});

test.each(['-1h', '+1h'])(
  'satisfies the contract in a process whose clock is %s off',
  async (offset) => {
    const options = { namespace: 'default', name: 'clock', durationSeconds: 600 };
    const lease = new Lease(api.client, { ...options, holder: 'right' });
    expect(await lease.hold()).toBe(true);
    const { server, credentials } = api;
    const { PATH, HOME } = process.env;
    const env = { PATH, HOME, API_SERVER: JSON.stringify({ server, credentials }) };
    const script = join(import.meta.dirname, '../rig/test-store-by-clock.ts');
    const child = spawn(process.execPath, [script], {
      env: { ...env, ...api.clock(offset) },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const report = JSON.parse(await text(child.stdout)) as ClockReport;
    const tests = report.testResults.flatMap(({ assertionResults }) => assertionResults);
    expect(tests.filter(({ status }) => status !== 'passed')).toEqual([]);
    expect(report.success).toBe(true);
    expect(tests.length).toBeGreaterThanOrEqual(18);
    const [{ startTime } = { startTime: 0 }] = report.testResults;
    const offMs = Number.parseInt(offset, 10) * 3_600_000;
    expect(Math.abs(startTime - Date.now() - offMs)).toBeLessThan(600_000);
    await lease.release();
  },
);

/** A store over the proxy that repeats a request after a temporary error. */
function patientStore(): Store {
  const store = storeOverProxy();
  const patient = <T>(request: () => Promise<T>): Promise<T> => value(retried(request, never));
  return storeWith(store, {
    create: (object) => patient(() => store.create(object)),
    get: (key) => patient(() => store.get(key)),
    list: (kind, selection) => patient(() => store.list(kind, selection)),
    each: (kind, selection) => patient(() => store.each(kind, selection)),
    update: (object) => patient(() => store.update(object)),
    updateStatus: (object) => patient(() => store.updateStatus(object)),
    delete: (key, version) => patient(() => store.delete(key, version)),
  });
}

// All that the contract promises holds over a connection on which every twentieth request is refused
// and every watch is cut.
describeStore('API server with a poor connection', async () => {
  let requests = 0;
  proxy.decide = (_, url) => {
    requests += 1;
    if (url.searchParams.has('watch')) return requests % 2 === 0 ? 'cut' : 'pass';
    return requests % 20 === 0 ? { code: 429, headers: { 'Retry-After': '1' } } : 'pass';
  };
  return patientStore();
});

let restarts = 0;
let restartingTests = 0;
// A restarted server has no versions from before: a watch from one of them is Expired. So it restarts
// early in every third test, and not in one that begins with a list.
describeStore('API server that restarts', async () => {
  restartingTests += 1;
  let restartsAt = restartingTests % 3 === 1 ? 3 : 0;
  let requests = 0;
  let stopped = Promise.resolve();
  proxy.decide = async (method) => {
    requests += 1;
    if (requests === 1 && method === 'GET') restartsAt = 0;
    if (requests === restartsAt) {
      restarts += 1;
      stopped = api.part.stop('SIGTERM');
      void stopped.then(() => api.part.start());
    }
    // The server answers what it has received before it stops. A lost answer to a write would be a
    // Conflict for a caller that only repeats it.
    await stopped;
    return 'pass' as const;
  };
  return patientStore();
});

test('the API server restarted five times while the contract was tested', () => {
  expect(restarts).toBe(5);
});

let pauses = 0;
let lateRequests = 0;
describeStore('API server whose etcd pauses', async () => {
  proxy.decide = () => {
    lateRequests += 1;
    if (lateRequests % 25 === 0) {
      pauses += 1;
      api.etcd.pause();
      setTimeout(() => api.etcd.resume(), 1_500);
    }
    return 'pass';
  };
  return patientStore();
});

test('etcd paused several times while the contract was tested', () => {
  expect(pauses).toBeGreaterThan(5);
});
