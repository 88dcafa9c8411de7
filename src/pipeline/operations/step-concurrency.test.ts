import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { repairStep } from '../../../test/synthetic-fleet.ts';
import { SyntheticWalk } from '../../../test/synthetic-walk.ts';
import { Semaphore } from '../../lib/std/semaphore.ts';
import { API_VERSION } from '../api/kinds.ts';
import { LARGE_STEPS_MAX } from '../diagnosis/limits.ts';
import { Runner } from '../diagnosis/runner.ts';
import type { StepToRun } from '../steps/step-to-run.ts';
import type { StoredObject } from '../store/store.ts';
import { newDiagnosis } from '../store/store-contract.ts';
import { builtIns } from './catalogue.ts';
import { EXCHANGES_MAX } from './limits.ts';
import type { HostRequest, ProcessorHost, WithHost } from './processor-host.ts';
import { journalSettling, podLookup, stepsOn } from './run-step.ts';

/** A node that is only passed on: no step here reads it. */
const withHost = <T>(request: HostRequest, use: (host: ProcessorHost) => Promise<T>) =>
  use(request as unknown as ProcessorHost);

function runnerOf(walk: SyntheticWalk, runStep = walk.context.runStep) {
  const ended: StoredObject[] = [];
  const onEnded = (object: StoredObject) => void ended.push(object);
  const runner = new Runner({ ...walk.context, runStep, onEnded });
  const until = runner.run();
  onTestFinished(async () => {
    walk.shutdown.abort();
    await until;
  });
  return { runner, ended };
}

/** A runner of real steps: "a" is a script that ends at once, "b" asks a server at this port. */
async function running(port: number) {
  const walk = new SyntheticWalk();
  await walk.graph('a');
  await walk.store.create({
    apiVersion: API_VERSION,
    kind: 'Operation',
    metadata: { name: 'b' },
    spec: {
      processor: {
        httpServer: { address: '127.0.0.1', port, path: '/', scheme: 'http' },
        timeoutSeconds: 30,
      },
    },
  });
  await walk.store.create({
    apiVersion: API_VERSION,
    kind: 'OperationSet',
    metadata: { name: 'asks' },
    spec: { adjacencyList: [{ to: [1] }, { operation: 'b' }] },
  });
  const { runner, ended } = runnerOf(walk, stepsOn({ withHost }));
  const ask = async (count: number) => {
    const names = Array.from({ length: count }, (_, at) => `asks-${at}`);
    const spec = { operationSet: 'asks' };
    await Promise.all(names.map((name) => walk.store.create(newDiagnosis(name, spec))));
  };
  return { walk, runner, ended, ask };
}

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

test('retries of an unreachable server do not block other steps', async () => {
  const { walk, runner, ended, ask } = await running(await closedPort());
  await ask(300);
  while (runner.counts.inFlight < 300) await sleep(5);
  await walk.store.create(newDiagnosis('harmless'));
  while (ended.length === 0) await sleep(5);
  expect(ended[0]).toMatchObject({
    metadata: { name: 'harmless' },
    status: { phase: 'Succeeded' },
  });
  expect(runner.counts).toEqual({ inFlight: 300, queued: 0, waiting: 0 });
});

test('a Diagnosis that ends while it waits for a server says why it waited', async () => {
  const { walk, ended } = await running(await closedPort());
  await walk.store.create(newDiagnosis('late', { operationSet: 'asks', deadlineSeconds: 2 }));
  while (ended.length === 0) await sleep(5);
  const message = expect.stringMatching(/: stopped; .*ECONNREFUSED/) as string;
  expect(ended[0]?.status).toMatchObject({ phase: 'Failed', steps: [{ message }] });
});

test('limits concurrent HTTP requests', async () => {
  const asked: ServerResponse[] = [];
  let isOpen = false;
  const server = createServer((_, response) => {
    if (isOpen) response.end('{}');
    else asked.push(response);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { ended, ask } = await running((server.address() as AddressInfo).port);
  await ask(EXCHANGES_MAX + 50);
  while (asked.length < EXCHANGES_MAX) await sleep(5);
  // A request beyond the limit would arrive now.
  await sleep(200);
  expect(asked).toHaveLength(EXCHANGES_MAX);
  isOpen = true;
  for (const response of asked) response.end('{}');
  while (ended.length < EXCHANGES_MAX + 50) await sleep(5);
  expect(ended.every(({ status }) => status?.phase === 'Succeeded')).toBe(true);
});

test('limits concurrent steps with large results', async () => {
  const walk = new SyntheticWalk();
  await walk.graph('ab');
  const large = 'x'.repeat(100_000);
  walk.acts.set('a', () => ({ succeeded: true, results: { large } }));
  let now = 0;
  let most = 0;
  const gate = Promise.withResolvers<void>();
  walk.acts.set('b', async ({ input }) => {
    now += 1;
    most = Math.max(most, now);
    expect(input.large).toBe(large);
    await gate.promise;
    now -= 1;
    return { succeeded: true, results: {} };
  });
  const { ended } = runnerOf(walk);
  const names = Array.from({ length: LARGE_STEPS_MAX + 20 }, (_, at) => `d-${at}`);
  await Promise.all(names.map((name) => walk.store.create(newDiagnosis(name))));
  await expect.poll(() => now).toBe(LARGE_STEPS_MAX);
  // The deadline of the Diagnosis also counts while it waits in the queue.
  await walk.store.create(newDiagnosis('late', { deadlineSeconds: 2 }));
  while (ended.length === 0) await sleep(5);
  expect(ended[0]).toMatchObject({ metadata: { name: 'late' }, status: { phase: 'Failed' } });
  gate.resolve();
  while (ended.length <= names.length) await sleep(5);
  expect(most).toBe(LARGE_STEPS_MAX);
  expect(ended.slice(1).every(({ status }) => status?.phase === 'Succeeded')).toBe(true);
});

test('a plan does not wait for a repair', async () => {
  const processor = builtIns.operations.get('stale-subpath-mount-recover');
  if (!processor) throw new Error('no such Operation');
  const begun: string[] = [];
  const gate = Promise.withResolvers<never>();
  const run = stepsOn({
    reading: new Semaphore(4),
    withHost: ({ purpose }) => {
      begun.push(purpose ?? '');
      return gate.promise;
    },
  });
  const step = (purpose: string, more: object, status = {}): StepToRun => {
    const spec = { operationSet: 'some', ...more };
    const diagnosis = { namespace: 'a', name: 'b', uid: 'c', nodeName: 'd', spec, status };
    const { signal: stop } = new AbortController();
    return { name: 'recover', processor, diagnosis, input: {}, purpose, restMs: 1_000, stop };
  };
  const approved = { recovery: 'Approval', approvedPlan: 'p' };
  const steps = [
    step('asks', { recovery: 'Approval' }),
    step('asks again', { ...approved, approvedPlan: 'old' }, { plan: 'p' }),
    step('dry run', { dryRun: true }),
    step('never', { recovery: 'Never' }),
    step('acts', {}),
    step('acts next', {}),
    step('acts as approved', approved, { plan: 'p' }),
  ].map(run);
  await sleep(0);
  expect(begun).toEqual(['asks', 'asks again', 'dry run', 'never', 'acts']);
  gate.reject(new Error('ended'));
  await Promise.all(steps);
  expect(begun.slice(5)).toEqual(['acts next', 'acts as approved']);
});

test('steps that read the node and lookups of pods wait in one queue', async () => {
  const processor = builtIns.operations.get('stale-subpath-mount-diagnoser');
  if (!processor) throw new Error('no such Operation');
  const begun: string[] = [];
  const gate = Promise.withResolvers<never>();
  const opened: WithHost = ({ purpose = 'lookup' }) => {
    begun.push(purpose);
    return gate.promise;
  };
  const reading = new Semaphore(2);
  const run = stepsOn({ withHost: opened, reading });
  const lookup = podLookup(opened, reading);
  const spec = { operationSet: 'some' };
  const diagnosis = { namespace: 'a', name: 'b', uid: 'c', nodeName: 'd', spec, status: {} };
  const { signal: stop } = new AbortController();
  const rest = { name: 'diagnose', processor, diagnosis, input: {}, restMs: 1_000, stop };
  const pod = { namespace: 'web', name: 'web-1' };
  const all = [
    run({ ...rest, purpose: 'first' }),
    lookup(pod, 1_000, stop),
    run({ ...rest, purpose: 'second' }),
    lookup(pod, 1_000, stop),
  ];
  await sleep(0);
  expect(begun).toEqual(['first', 'lookup']);
  gate.reject(new Error('ended'));
  await Promise.allSettled(all);
  expect(begun).toEqual(['first', 'lookup', 'second', 'lookup']);
});

test('a repair waits until the journal is settled, and nobody settles it during a repair', async () => {
  const [settling, repair] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const repairing = new Semaphore(1);
  const isOpen = async () => {
    await settling.promise;
    return { isOpen: true, settled: [], close: () => {} };
  };
  const host = (async (_: HostRequest, use: (host: ProcessorHost) => Promise<unknown>) =>
    use({ openRepair: isOpen } as unknown as ProcessorHost)) as WithHost;
  const settle = journalSettling(host, new AbortController().signal, repairing);
  let repairs = 0;
  const run = stepsOn({
    repairing,
    withHost: (async () => {
      repairs += 1;
      await repair.promise;
      return { succeeded: true, results: {} };
    }) as WithHost,
  });
  const settled = settle();
  const step = repairStep('web-1', {}, { path: '/processor/subpathRemountRecover' });
  const repaired = run(step);
  await sleep(20);
  expect(repairs).toBe(0);
  settling.resolve();
  expect(await settled).toEqual({ isSettled: true });
  await expect.poll(() => repairs).toBe(1);
  expect(await settle()).toMatchObject({ isSettled: false });
  repair.resolve();
  expect(await repaired).toMatchObject({ succeeded: true });
  expect(await settle()).toEqual({ isSettled: true });
});
