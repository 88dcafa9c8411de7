import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { storeWith } from '../../../test/store-with.ts';
import { SyntheticWalk } from '../../../test/synthetic-walk.ts';
import type { DiagnosisStatus } from '../api/diagnosis.ts';
import type { Store } from '../store/store.ts';
import { newDiagnosis } from '../store/store-contract.ts';
import { StoreError, type StoreErrorReason } from '../store/store-error.ts';
import { storeLookup } from './operation-lookup.ts';
import { Runner } from './runner.ts';

const HERE = { fieldSelector: 'spec.nodeName=node-1' };
const NO_BUILT_INS = async () => ({ operations: new Map(), operationSets: new Map() });

/** As on a cluster: drives the Diagnoses of one node, and writes status only. */
class Agent {
  readonly #walk: SyntheticWalk;
  readonly #shutdown = new AbortController();
  readonly #running: Promise<void>;

  constructor(walk: SyntheticWalk, store: Store) {
    this.#walk = walk;
    const context = { ...walk.context, store, shutdown: this.#shutdown.signal };
    const lookup = storeLookup(store, NO_BUILT_INS, { isWatched: true });
    this.#running = new Runner({ ...context, lookup, selection: HERE }).run();
  }

  async stop(): Promise<void> {
    this.#shutdown.abort();
    await this.#running;
  }

  async end(): Promise<void> {
    while ((await this.#walk.status()).phase !== 'Succeeded') await sleep(2);
    await this.stop();
  }
}

async function walkOnCluster(): Promise<SyntheticWalk> {
  const walk = new SyntheticWalk();
  walk.isAgentOnly = true;
  walk.otherNodes = 'elsewhere';
  await walk.graph('abcd');
  await walk.diagnosis();
  return walk;
}

const agents: Agent[] = [];
afterEach(async () => {
  for (const agent of agents.splice(0)) await agent.stop();
});

/** Calls `fail` instead of each status write with this number, counted from 0. */
function failingAt(
  store: Store,
  at: number,
  fail: (write: () => Promise<unknown>) => Promise<never>,
) {
  let writes = 0;
  return storeWith(store, {
    updateStatus: (object) => {
      const write = () => store.updateStatus(object);
      writes += 1;
      return writes - 1 === at ? fail(write) : write();
    },
  });
}

const WRITES = [0, 1, 2, 3, 4];

test('four steps take five writes, and the graph is read once', async () => {
  const walk = await walkOnCluster();
  let [writes, sets] = [0, 0];
  const { store } = walk;
  const counting = storeWith(store, {
    update: () => Promise.reject(new Error('an agent writes status only')),
    updateStatus: (object) => {
      writes += 1;
      return store.updateStatus(object);
    },
    get: (key) => {
      if (key.kind === 'OperationSet') sets += 1;
      return store.get(key);
    },
  });
  await new Agent(walk, counting).end();
  expect(writes).toBe(WRITES.length);
  expect(sets).toBe(1);
  expect(walk.ran).toEqual(['a', 'b', 'c', 'd']);
});

test.each(WRITES)('write %i fails, or only its answer is lost: no step runs twice', async (at) => {
  const reasons: StoreErrorReason[] = ['ServiceUnavailable', 'TooManyRequests', 'Unauthorized'];
  for (const reason of reasons) {
    const lost = new StoreError(reason, 'lost');
    for (const isWritten of [false, true]) {
      const walk = await walkOnCluster();
      const store = failingAt(walk.store, at, async (write) => {
        if (isWritten) await write();
        throw lost;
      });
      await new Agent(walk, store).end();
      expect(walk.ran).toEqual(['a', 'b', 'c', 'd']);
    }
  }
});

test.each(WRITES)('killed at write %i, the next agent goes on with that step', async (at) => {
  for (const isWritten of [false, true]) {
    const walk = await walkOnCluster();
    const purposes: string[] = [];
    for (const step of 'abcd') {
      walk.acts.set(step, ({ purpose }) => {
        purposes.push(purpose);
        return { succeeded: true, results: {} };
      });
    }
    const reached = Promise.withResolvers<void>();
    const store = failingAt(walk.store, at, async (write) => {
      if (isWritten) await write();
      reached.resolve();
      // A killed process writes no more.
      return new Promise<never>(() => {});
    });
    const killed = new Agent(walk, store);
    await reached.promise;
    await new Agent(walk, walk.store).end();
    // The result that was not stored is the only one that is made again, for the same purpose.
    const isAgain = at > 0 && !isWritten;
    expect(walk.ran).toHaveLength(isAgain ? 5 : 4);
    expect(new Set(walk.ran)).toEqual(new Set('abcd'));
    expect(new Set(purposes).size).toBe(4);
    void killed.stop();
  }
});

test.each(['Forbidden', 'BadRequest'] as const)(
  'a result whose write is refused as %s is stored later, and its step runs once',
  async (reason) => {
    const walk = await walkOnCluster();
    const { store } = walk;
    let refusals = 2;
    const refusing = storeWith(store, {
      updateStatus: async (object) => {
        if (walk.ran.length === 2 && refusals > 0) {
          refusals -= 1;
          throw new StoreError(reason, 'not now');
        }
        return store.updateStatus(object);
      },
    });
    await new Agent(walk, refusing).end();
    expect(walk.ran).toEqual(['a', 'b', 'c', 'd']);
    expect(walk.errors).toEqual(['not now', 'not now']);
  },
);

test('a status that the server calls invalid ends the Diagnosis with the words of the server', async () => {
  const walk = await walkOnCluster();
  const { store } = walk;
  for (const isRefused of [
    ({ operationResults }: DiagnosisStatus) => operationResults !== undefined,
    ({ steps }: DiagnosisStatus) => steps !== undefined,
  ]) {
    const refusing = storeWith(store, {
      updateStatus: async (object) => {
        if (!isRefused(object.status ?? {})) return store.updateStatus(object);
        throw new StoreError('Invalid', 'status.result: Unsupported value: "New"');
      },
    });
    const agent = new Agent(walk, refusing);
    agents.push(agent);
    while ((await walk.status()).phase !== 'Failed') await sleep(2);
    const { conditions, steps } = await walk.status();
    expect(JSON.stringify([conditions, steps])).toContain('Unsupported value: \\"New\\"');
    expect(walk.ran).toEqual(['a']);
    await agent.stop();
    walk.ran.length = 0;
    await walk.delete();
    await walk.diagnosis();
  }
});

test('a graph that changes between two steps ends the Diagnosis, though the first is in memory', async () => {
  const walk = await walkOnCluster();
  const agent = new Agent(walk, walk.store);
  agents.push(agent);
  walk.acts.set('b', async () => {
    const set = await walk.store.get({ kind: 'OperationSet', name: 'some' });
    if (!set) throw new Error('it is gone');
    const adjacencyList = [{ to: [1] }, { operation: 'a' }];
    await walk.store.update({ ...set, spec: { adjacencyList } });
    // The watch reports it meanwhile.
    await sleep(50);
    return { succeeded: true, results: {} };
  });
  while ((await walk.status()).phase !== 'Failed') await sleep(2);
  expect((await walk.status()).conditions?.at(-1)?.reason).toBe('OperationSetChanged');
  expect(walk.ran).toEqual(['a', 'b']);
});

test('a Diagnosis of another node, or of none, is never written', async () => {
  const walk = await walkOnCluster();
  const { store } = walk;
  for (const nodeName of ['node-2', undefined]) {
    const { spec, ...rest } = newDiagnosis(`on-${nodeName ?? 'none'}`);
    await store.create({ ...rest, spec: { ...spec, nodeName } });
  }
  await new Agent(walk, store).end();
  const { items } = await store.list('Diagnosis');
  expect(items.filter(({ status }) => status)).toHaveLength(1);
});
