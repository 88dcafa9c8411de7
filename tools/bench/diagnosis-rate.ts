import { join } from 'node:path';
import { API_VERSION } from '../../src/pipeline/api/kinds.ts';
import { assignIn } from '../../src/pipeline/diagnosis/assign.ts';
import { largeResultsIn } from '../../src/pipeline/diagnosis/large-results.ts';
import { storeLookup } from '../../src/pipeline/diagnosis/operation-lookup.ts';
import { Runner } from '../../src/pipeline/diagnosis/runner.ts';
import { builtIns } from '../../src/pipeline/operations/catalogue.ts';
import { openSqliteStore } from '../../src/pipeline/store/sqlite-store.ts';
import type { Store, StoredObject } from '../../src/pipeline/store/store.ts';
import { barred, type Row, shown } from './row.ts';

const STEPS = 10;
const AT_ONCE = 100;
const WARM_UP = 300;
const MEASURED = 600;
const ROUNDS = 3;
const ALONE = 51;

/** Diagnoses of ten steps that do nothing: what is left is deciding, writing and syncing. */
export async function diagnosisRateRows(scratch: string): Promise<readonly Row[]> {
  const store = await openSqliteStore(join(scratch, 'state/store.sqlite'));
  await makeGraph(store);
  const waiting = new Map<string, () => void>();
  const shutdown = new AbortController();
  const runner = new Runner({
    store,
    lookup: storeLookup(store, async () => builtIns),
    largeResults: largeResultsIn(join(scratch, 'state/results')),
    targetOf: ({ nodeName = '' }) => ({ state: 'here', nodeName }),
    assign: assignIn(store),
    runStep: async ({ name }) => ({ succeeded: true, results: { [name]: 'done' } }),
    shutdown: shutdown.signal,
    onEnded: (object) => reported(object, waiting),
  });
  const running = runner.run();
  let created = 0;
  const one = async () => {
    created += 1;
    const name = `diagnosis-${created}`;
    const ended = new Promise<void>((resolve) => waiting.set(name, resolve));
    await store.create(diagnosis(name));
    await ended;
  };
  const many = async (count: number) => {
    let left = count;
    const worker = async () => {
      while (left > 0) {
        left -= 1;
        await one();
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  };
  await many(WARM_UP);
  let leastSeconds = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round += 1) {
    leastSeconds = Math.min(leastSeconds, await secondsFor(() => many(MEASURED)));
  }
  const alone: number[] = [];
  for (let round = 0; round < ALONE; round += 1) alone.push((await secondsFor(one)) * 1_000);
  const commits: number[] = [];
  for (let round = 0; round < ALONE; round += 1) {
    commits.push((await secondsFor(() => store.create(diagnosis(`commit-${round}`)))) * 1_000);
  }
  shutdown.abort();
  await running;
  store.close();
  const name = `Diagnosis of ${STEPS} steps that do nothing`;
  return [
    barred(`${name}: ended, ${AT_ONCE} at once`, MEASURED / leastSeconds, '1/s', { atLeast: 200 }),
    shown(`${name}: one alone, p50`, median(alone), 'ms'),
    shown(`${name}: a commit alone, p50`, median(commits), 'ms'),
  ];
}

function reported({ metadata, status }: StoredObject, waiting: Map<string, () => void>): void {
  if (status?.phase !== 'Succeeded') throw new Error(`${metadata.name} failed`);
  waiting.get(metadata.name)?.();
  waiting.delete(metadata.name);
}

async function makeGraph(store: Store): Promise<void> {
  const chain = Array.from({ length: STEPS }, (_, at) => ({
    operation: `step-${at}`,
    ...(at === STEPS - 1 ? {} : { to: [at + 2] }),
  }));
  await store.create({
    apiVersion: API_VERSION,
    kind: 'OperationSet',
    metadata: { name: 'chain' },
    spec: { adjacencyList: [{ to: [1] }, ...chain] },
  });
  const processor = { path: '/processor/podListCollector', timeoutSeconds: 30 };
  for (const { operation } of chain) {
    const metadata = { name: operation };
    const spec = { processor };
    await store.create({ apiVersion: API_VERSION, kind: 'Operation', metadata, spec });
  }
}

function diagnosis(name: string) {
  return {
    apiVersion: API_VERSION,
    kind: 'Diagnosis',
    metadata: { name, namespace: 'default' },
    spec: { operationSet: 'chain', nodeName: 'node-1' },
  } as const;
}

async function secondsFor(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return (performance.now() - begun) / 1_000;
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
}
