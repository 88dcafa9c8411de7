import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { fieldAt } from '../../src/lib/std/json.ts';
import { storeLookup } from '../../src/pipeline/diagnosis/operation-lookup.ts';
import { Runner } from '../../src/pipeline/diagnosis/runner.ts';
import { kubeStore } from '../../src/pipeline/kube/kube-store.ts';
import { keepLease, Lease } from '../../src/pipeline/kube/lease.ts';
import { objectAt } from '../../src/pipeline/kube/objects.ts';
import { answerOf } from '../../src/pipeline/store/store-answer.ts';
import { newDiagnosis } from '../../src/pipeline/store/store-contract.ts';
import { isTemporary } from '../../src/pipeline/store/store-error.ts';
import { type ApiServer, startApiServer } from '../rig/api-server.ts';
import { SyntheticWalk } from '../synthetic-walk.ts';

// Full after about a dozen of the large objects below.
const QUOTA = '--quota-backend-bytes=16777216';
const LARGE = 'x'.repeat(900_000);
const FULL = 'etcdserver: mvcc: database space exceeded';
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const LEASE = '/apis/coordination.k8s.io/v1/namespaces/default/leases/node-1';
const LEASE_SECONDS = 2;

let api: ApiServer;

beforeAll(async () => {
  api = await startApiServer({ etcdArguments: [QUOTA] });
});

afterAll(() => api.stop());

/** Writes until etcd refuses; gives the names of what it has stored. */
async function fillEtcd(): Promise<readonly string[]> {
  for (const names: string[] = []; ; ) {
    const name = `large-${names.length}`;
    const body = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name },
      data: { text: LARGE },
    };
    const answer = await answerOf(api.client.request({ method: 'POST', path: CONFIG_MAPS, body }));
    if (!answer.ok) {
      expect(answer.error.message).toContain(FULL);
      return names;
    }
    names.push(name);
  }
}

/** As https://etcd.io/docs/v3.4/op-guide/maintenance/#space-quota says. */
async function freeEtcd(names: readonly string[]): Promise<void> {
  for (const name of names) {
    await api.client.request({ method: 'DELETE', path: `${CONFIG_MAPS}/${name}` });
  }
  await api.compact();
  await api.defragment();
}

/** Drives the Diagnoses of node-1 as an agent does. */
function startAgent(walk: SyntheticWalk): { readonly stop: () => Promise<void> } {
  const { context, shutdown } = walk;
  const runner = new Runner({
    ...context,
    lookup: storeLookup(walk.store, async () => walk.builtIns, { isWatched: true }),
    selection: { fieldSelector: 'spec.nodeName=node-1' },
  });
  const running = runner.run();
  const stop = async () => {
    shutdown.abort();
    await running;
  };
  onTestFinished(stop);
  return { stop };
}

/** As an agent, but with a shorter duration. */
function renewLease(): { readonly lease: Lease; readonly errors: readonly string[] } {
  const options = { namespace: 'default', name: 'node-1', holder: 'node-1' };
  const lease = new Lease(api.client, { ...options, durationSeconds: LEASE_SECONDS });
  const stop = new AbortController();
  const errors: string[] = [];
  const onError = (message: string) => errors.push(message);
  const renewing = keepLease(lease, { intervalMs: 500, stop: stop.signal, onError });
  onTestFinished(async () => {
    stop.abort();
    await renewing;
  });
  return { lease, errors };
}

test('a full etcd refuses a write for a time, and answers reads', async () => {
  const store = kubeStore(api.client);
  const names = await fillEtcd();
  const refused = await answerOf(store.create(newDiagnosis('one')));
  if (refused.ok) throw new Error('etcd is not full');
  expect(refused.error).toMatchObject({ reason: 'ServiceUnavailable' });
  expect(refused.error.message).toContain(FULL);
  expect(isTemporary(refused.error)).toBe(true);
  expect((await store.list('Diagnosis')).items).toEqual([]);
  await freeEtcd(names);
  await store.create(newDiagnosis('one'));
  await api.clear();
});

test('an agent whose etcd fills up during a step stores its result later, and runs no step twice', async () => {
  const walk = new SyntheticWalk();
  walk.store = kubeStore(api.client);
  walk.isAgentOnly = true;
  const filled = Promise.withResolvers<readonly string[]>();
  walk.acts.set('b', async () => {
    filled.resolve(await fillEtcd());
    return { succeeded: true, results: { b: 'done' } };
  });
  await walk.graph('abcd');
  const { lease, errors } = renewLease();
  await expect.poll(() => lease.isHeld).toBe(true);
  startAgent(walk);
  await walk.diagnosis();
  const names = await filled.promise;
  // It tries again, and says why.
  await expect
    .poll(() => walk.errors.filter((each) => each.includes(FULL)).length)
    .toBeGreaterThan(2);
  // Nobody else may take what it holds no longer, as they cannot write either; it does not believe to hold it.
  await expect.poll(() => lease.isHeld).toBe(false);
  expect(errors).toContainEqual(expect.stringContaining(FULL));
  expect(walk.ran).toEqual(['a', 'b']);
  expect(await walk.status()).toMatchObject({ phase: 'Running' });
  await freeEtcd(names);
  await expect.poll(async () => (await walk.status()).phase, { timeout: 60_000 }).toBe('Succeeded');
  expect(walk.ran).toEqual(['a', 'b', 'c', 'd']);
  expect((await walk.status()).operationResults).toEqual({
    a: 'done',
    b: 'done',
    c: 'done',
    d: 'done',
  });
  await expect.poll(() => lease.isHeld).toBe(true);
  expect(fieldAt(await objectAt(api.client, LEASE), 'spec', 'leaseTransitions')).toBe(0);
});
