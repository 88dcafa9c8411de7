import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { syntheticAgent } from '../../../test/synthetic-agent.ts';
import { chain, diagnosis, object } from '../../../test/synthetic-manifests.ts';
import type { DiagnosisStatus } from '../../pipeline/api/diagnosis.ts';
import { API_VERSION } from '../../pipeline/api/kinds.ts';
import { ARRIVAL_MS } from '../../pipeline/graph/limits.ts';
import { openSqliteStore } from '../../pipeline/store/sqlite-store.ts';
import type { StoredObject } from '../../pipeline/store/store.ts';

const SETS = '/operationsets';
const OPERATIONS = '/operations';
const DIAGNOSES = '/namespaces/default/diagnoses';

let scratch = '';
beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), 'kubediag-mid-run-'));
  scratch = folder;
  // After the agent in it has ended.
  onTestFinished(() => rmSync(folder, { recursive: true }));
});

/** Scripts are programs of their own, on a machine that may be busy. */
vi.setConfig({ testTimeout: 30_000 });
const SOON = { timeout: 15_000 };

const runs = (name: string, text: string) => {
  const script = `echo $0 >> ${scratch}/ran; ${text}`;
  return object('Operation', name, {
    processor: { scriptRunner: { script, operationResultKey: name } },
  });
};
const prints = (name: string) => runs(name, 'echo done');
/** It says that it has begun, and ends once it may. */
const waits = (name: string) =>
  runs(name, `until [ -e ${scratch}/gate ]; do sleep 0.02; done; echo done`);
const openGate = () => writeFileSync(join(scratch, 'gate'), '');
const ran = () => {
  const file = join(scratch, 'ran');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
};

/** An agent, and somebody who talks to it through its API. */
async function standing() {
  const agent = await syntheticAgent(scratch);
  const token = readFileSync(agent.tokenFile, 'utf8').trim();
  const ask = async (method: string, path: string, body?: object) => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const answer = await fetch(`${agent.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': type },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await answer.text();
    expect(answer.ok, text).toBe(true);
    return { text, warning: answer.headers.get('warning') ?? '' };
  };
  const here = (path: string) => `/apis/${API_VERSION}${path}`;
  const stored = async (name: string) =>
    JSON.parse((await ask('GET', here(`${DIAGNOSES}/${name}`))).text) as StoredObject;
  const status = async (name = 'd') => ((await stored(name)).status ?? {}) as DiagnosisStatus;
  return {
    stop: agent.stop,
    numbers: async () => (await ask('GET', '/metrics')).text,
    make: (path: string, given: object) => ask('POST', here(path), given),
    patch: (path: string, change: object) => ask('PATCH', here(path), change),
    remove: (path: string) => ask('DELETE', here(path)),
    status,
    names: async () => {
      const { text } = await ask('GET', here(DIAGNOSES));
      const { items } = JSON.parse(text) as { readonly items: readonly StoredObject[] };
      return items.map(({ metadata }) => metadata.name);
    },
    /** Its end, once it has come. */
    ended: async (name = 'd') => {
      const phase = async () => (await status(name)).phase;
      await expect.poll(phase, SOON).toMatch(/Succeeded|Failed/);
      const { conditions = [], ...rest } = await status(name);
      return { ...rest, reason: conditions.at(-1)?.reason };
    },
  };
}

type Standing = Awaited<ReturnType<typeof standing>>;

/** With its first step under way. */
async function begun({ make }: Standing, first: object, ...others: readonly object[]) {
  for (const each of [first, ...others]) await make(OPERATIONS, each);
  await make(SETS, chain('one', 'two'));
  await make(DIAGNOSES, diagnosis('d'));
  await expect.poll(ran, SOON).toEqual(['one']);
}

test('an OperationSet that is edited in the middle of a step ends its Diagnosis, and what was found stays', async () => {
  const me = await standing();
  await begun(me, waits('one'), prints('two'), prints('three'));
  await me.patch(`${SETS}/set`, chain('one', 'three'));
  openGate();
  expect(await me.ended()).toMatchObject({
    phase: 'Failed',
    reason: 'OperationSetChanged',
    operationResults: { 'operation.one.output': 'done\n' },
  });
  expect(ran()).toEqual(['one']);
});

test('an Operation that is deleted in the middle of a step is not run; another of its name is', async () => {
  const me = await standing();
  await begun(me, waits('one'), runs('two', 'echo old'));
  await me.remove(`${OPERATIONS}/two`);
  openGate();
  const checkpoint = async () => (await me.status()).checkpoint;
  await expect.poll(checkpoint, SOON).toEqual({ pathIndex: 0, nodeIndex: 1 });
  expect(await me.status()).toMatchObject({ phase: 'Running' });
  await me.make(OPERATIONS, runs('two', 'echo new'));
  const { phase, operationResults } = await me.ended();
  expect(phase).toBe('Succeeded');
  expect(operationResults).toMatchObject({ 'operation.two.output': 'new\n' });
  expect(ran()).toEqual(['one', 'two']);
});

test('changes of labels and annotations in the middle of a step run nothing twice, nor end it', async () => {
  const me = await standing();
  await begun(me, waits('one'), prints('two'));
  for (const value of ['x', 'y', 'z']) {
    const metadata = { labels: { value }, annotations: { value } };
    for (const path of [`${DIAGNOSES}/d`, `${SETS}/set`, `${OPERATIONS}/one`]) {
      await me.patch(path, { metadata });
    }
  }
  openGate();
  expect(await me.ended()).toMatchObject({ phase: 'Succeeded', reason: 'DiagnosisComplete' });
  expect(ran()).toEqual(['one', 'two']);
});

test('a Diagnosis with dots in its name, whose graph and steps come after it, ends', async () => {
  const me = await standing();
  const name = 'prometheus-alert.node-clock.94df165.1622618935';
  const { warning } = await me.make(DIAGNOSES, diagnosis(name));
  expect(warning).toContain("OperationSet 'set' does not exist yet");
  await expect.poll(async () => (await me.status(name)).phase, SOON).toBe('Running');
  await me.make(SETS, chain('one', 'two'));
  await me.make(OPERATIONS, prints('two'));
  await me.make(OPERATIONS, prints('one'));
  expect(await me.ended(name)).toMatchObject({ phase: 'Succeeded' });
  expect(ran()).toEqual(['one', 'two']);
});

/** As if all had begun so long ago that what is missing must come within two seconds. */
async function letTimePass(): Promise<void> {
  const store = await openSqliteStore(join(scratch, 'state/store.sqlite'));
  const startTime = new Date(Date.now() - ARRIVAL_MS + 2_000).toISOString();
  for (const each of (await store.list('Diagnosis')).items) {
    await store.updateStatus({ ...each, status: { ...each.status, startTime } });
  }
  store.close();
}

test('reports a missing object after its timeout, though nothing changes any more', async () => {
  const before = await standing();
  await before.make(OPERATIONS, prints('one'));
  await before.make(SETS, chain('one', 'two'));
  const labels = { matchLabels: { a: 'b' } };
  const targets = {
    'nodes-by-label': { nodeSelector: labels },
    'other-nodes': { nodeNames: ['worker-1', 'worker-2'] },
  };
  for (const [name, targetSelector] of Object.entries(targets)) {
    const spec = { operationSet: 'set', targetSelector };
    const { warning } = await before.make(DIAGNOSES, object('Diagnosis', name, spec));
    expect(warning).toContain('the Diagnosis fails after a minute');
  }
  await before.make(DIAGNOSES, diagnosis('no-set', { operationSet: 'nobodys' }));
  await before.make(DIAGNOSES, diagnosis('no-step'));
  const checkpoint = async () => (await before.status('no-step')).checkpoint;
  await expect.poll(checkpoint, SOON).toMatchObject({ nodeIndex: 1 });
  for (const name of Object.keys(targets)) {
    await expect.poll(async () => (await before.status(name)).phase, SOON).toBe('Pending');
  }
  await before.stop();
  await letTimePass();
  const me = await standing();
  for (const name of Object.keys(targets)) {
    expect(await me.ended(name)).toMatchObject({ phase: 'Failed', reason: 'TargetNotFound' });
  }
  expect(await me.ended('no-set')).toMatchObject({ reason: 'OperationSetNotFound' });
  expect(await me.ended('no-step')).toMatchObject({ reason: 'AllPathsFailed' });
  const { conditions, steps } = await me.status('no-step');
  expect(conditions?.map(({ reason }) => reason)).toContain('OperationNotFound');
  expect(steps?.map(({ outcome }) => outcome)).toEqual(['Succeeded', 'Failed']);
  expect(ran()).toEqual(['one']);
});

test('a server that nobody can reach holds up no other Diagnosis, and a cancel ends the wait for it', async () => {
  const me = await standing();
  const nobody = { httpServer: { address: '127.0.0.1', port: 1 } };
  await me.make(OPERATIONS, object('Operation', 'one', { processor: nobody }));
  await me.make(OPERATIONS, prints('two'));
  await me.make(SETS, chain('one'));
  await me.make(SETS, { ...chain('two'), metadata: { name: 'other' } });
  const names = Array.from({ length: 10 }, (_, at) => `waits-${at}`);
  for (const name of names) await me.make(DIAGNOSES, diagnosis(name));
  await me.make(DIAGNOSES, diagnosis('d', { operationSet: 'other' }));
  expect(await me.ended()).toMatchObject({ phase: 'Succeeded' });
  for (const name of names) expect(await me.status(name)).toMatchObject({ phase: 'Running' });
  // The status shows why it waits, and for how long.
  const { startTime, nextAttemptTime = '' } = (await me.status('waits-0')).currentStep ?? {};
  expect((await me.status('waits-0')).currentStep).toEqual({
    operation: 'one',
    startTime,
    attempts: 1,
    nextAttemptTime,
    message: expect.stringMatching(/^http:\/\/127[.]0[.]0[.]1:1\/: .*ECONNREFUSED/),
  });
  expect(Date.parse(nextAttemptTime)).toBeGreaterThan(Date.now());
  for (const name of names) await me.patch(`${DIAGNOSES}/${name}`, { spec: { cancel: true } });
  for (const name of names) {
    expect(await me.ended(name)).toMatchObject({ phase: 'Failed', reason: 'DiagnosisCancelled' });
  }
});

test('a Diagnosis with ttlSecondsAfterFinished 0 is deleted after its end, and not before', async () => {
  const me = await standing();
  await begun(me, waits('one'), prints('two'));
  await me.patch(`${DIAGNOSES}/d`, { spec: { ttlSecondsAfterFinished: 0 } });
  expect(await me.status()).toMatchObject({ phase: 'Running' });
  openGate();
  await expect.poll(me.names, SOON).toEqual([]);
  expect(ran()).toEqual(['one', 'two']);
});

test('each end is counted once, and each step is timed', async () => {
  const me = await standing();
  await begun(me, waits('one'), runs('two', 'exit 3'));
  expect(await me.numbers()).toContain('diagnosis_total_count 0\n');
  openGate();
  expect(await me.ended()).toMatchObject({ phase: 'Failed', reason: 'AllPathsFailed' });
  for (const label of ['x', 'y']) {
    await me.patch(`${DIAGNOSES}/d`, { metadata: { labels: { label } } });
  }
  await me.make(DIAGNOSES, diagnosis('again'));
  await me.ended('again');
  const numbers = await me.numbers();
  expect(numbers).toContain('diagnosis_total_fail_count 2\n');
  expect(numbers).toContain('diagnosis_total_success_count 0\n');
  expect(numbers).toContain('executor_operation_fail_counter 2\n');
  expect(numbers).toContain('kubediag_operation_duration_seconds_count{operation="two"} 2\n');
});
