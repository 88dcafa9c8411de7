import { expect, onTestFinished, test } from 'vitest';
import { SyntheticApiServer } from '../../../../test/synthetic-api-server.ts';
import { SyntheticController } from '../../../../test/synthetic-controller.ts';
import { fieldAt, isObject, textAt } from '../../../lib/std/json.ts';
import {
  AUTHOR_POLICY,
  FAILURES_ANNOTATION,
  POLICY_HASH,
  RIGHTS_POLICIES,
} from '../../../pipeline/api/cluster-names.ts';
import type { RecoveryPolicyStatus } from '../../../pipeline/api/recovery-policy.ts';
import { StoreError } from '../../../pipeline/store/store-error.ts';
import { policyHash } from './policy-hash.ts';
import { slots } from './slots.ts';

const POLICY = '/apis/diagnosis.kubediag.org/v1/recoverypolicies/default';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kubediag/leases';
const ADMISSION = '/apis/admissionregistration.k8s.io/v1';
const WAIT = { timeout: 5_000, interval: 5 };

function serverWith(nodes: number): SyntheticApiServer {
  const server = new SyntheticApiServer();
  for (let at = 0; at < nodes; at += 1) {
    server.put(`/api/v1/nodes/web-${at}`, { metadata: { name: `web-${at}` } });
  }
  const kinds = ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'];
  server.put(ADMISSION, { resources: kinds.map((name) => ({ name })) });
  for (const name of RIGHTS_POLICIES) {
    const metadata = { name, creationTimestamp: '2025-12-31T00:00:00Z' };
    const spec = { policyName: name, validationActions: ['Deny'] };
    const annotations = { [POLICY_HASH]: policyHash({}) };
    const policy = { metadata: { ...metadata, annotations }, spec: {} };
    server.put(`${ADMISSION}/validatingadmissionpolicies/${name}`, policy);
    server.put(`${ADMISSION}/validatingadmissionpolicybindings/${name}`, { metadata, spec });
  }
  return server;
}

async function controller(server: SyntheticApiServer): Promise<SyntheticController> {
  const started = new SyntheticController({}, server);
  onTestFinished(() => started.stop());
  await started.start();
  void slots(started.context);
  return started;
}

function setPolicy(server: SyntheticApiServer, spec: object): void {
  const before = server.objects.get(POLICY);
  const metadata = isObject(before?.metadata) ? before.metadata : { name: 'default', uid: 'u' };
  const generation = Number(metadata.generation ?? 0) + 1;
  server.put(POLICY, { ...before, metadata: { ...metadata, generation }, spec });
}

function setLease(
  server: SyntheticApiServer,
  number: number,
  holder: string,
  more = {},
  duration = {},
): void {
  const path = `${LEASES}/kubediag-recovery-${number}`;
  const lease = server.objects.get(path);
  const metadata = { ...(isObject(lease?.metadata) ? lease.metadata : {}), ...more };
  server.put(path, { ...lease, metadata, spec: { holderIdentity: holder, ...duration } });
}

const leasesOf = (server: SyntheticApiServer) =>
  [...server.objects.keys()].filter((path) => path.startsWith(LEASES)).length;
const statusOf = (server: SyntheticApiServer) =>
  fieldAt(server.objects.get(POLICY), 'status') as RecoveryPolicyStatus | undefined;
const specOf = (server: SyntheticApiServer) => fieldAt(server.objects.get(POLICY), 'spec');
const permittedOf = (server: SyntheticApiServer) =>
  statusOf(server)?.conditions?.find(({ type }) => type === 'RecoveryPermitted');
const eventsOf = (server: SyntheticApiServer) =>
  [...server.objects]
    .filter(([path]) => path.includes('/events/'))
    .map(([, event]) => textAt(event, 'reason'));
const holderOf = (server: SyntheticApiServer, number: number) =>
  textAt(server.objects.get(`${LEASES}/kubediag-recovery-${number}`), 'spec', 'holderIdentity');

test('creates the policy and its slots, and writes the status once', async () => {
  const server = serverWith(3);
  await controller(server);
  await expect.poll(() => statusOf(server)?.slots, WAIT).toBe(1);
  expect(leasesOf(server)).toBe(1);
  expect(statusOf(server)?.conditions).toMatchObject([
    { type: 'RightsEnforced', status: 'True' },
    { type: 'RecoveryPermitted', status: 'True' },
  ]);
  const written = server.writes.length;
  // Renewed by its holder: nothing to write.
  setLease(server, 0, '');
  server.put('/api/v1/nodes/web-0', { metadata: { name: 'web-0', labels: { a: 'b' } } });
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(server.writes.slice(written)).toEqual([]);
});

test('two controllers never create more slots than wanted, and follow the number of nodes', async () => {
  const server = serverWith(20);
  setPolicy(server, { maxConcurrentNodes: '20%' });
  await Promise.all([controller(server), controller(server)]);
  await expect.poll(() => statusOf(server)?.slots, WAIT).toBe(4);
  expect(leasesOf(server)).toBe(4);
  for (let at = 10; at < 20; at += 1) server.remove(`/api/v1/nodes/web-${at}`);
  await expect.poll(() => statusOf(server)?.slots, WAIT).toBe(2);
  await expect.poll(() => leasesOf(server), WAIT).toBe(2);
});

test('a surplus slot is deleted when it is free, and its failures are in the status then', async () => {
  const server = serverWith(3);
  setPolicy(server, { maxConcurrentNodes: 2 });
  await controller(server);
  await expect.poll(() => leasesOf(server), WAIT).toBe(2);
  setLease(server, 1, 'web-1');
  setPolicy(server, { maxConcurrentNodes: 1 });
  // The held one counts: no other one may be taken.
  await expect.poll(() => statusOf(server)?.slots, WAIT).toBe(0);
  expect(leasesOf(server)).toBe(2);
  const failed = {
    nodeName: 'web-1',
    diagnosis: 'default/d',
    uid: 'd',
    time: '2026-01-01T00:00:00Z',
  };
  const seen: unknown[] = [];
  server.onRequest = ({ method }) => {
    if (method === 'DELETE') seen.push(statusOf(server)?.failures);
  };
  setLease(server, 1, '', { annotations: { [FAILURES_ANNOTATION]: JSON.stringify([failed]) } });
  await expect.poll(() => leasesOf(server), WAIT).toBe(1);
  expect(seen).toEqual([[failed]]);
  await expect.poll(() => statusOf(server)?.slots, WAIT).toBe(1);
  expect(statusOf(server)?.failures).toEqual([failed]);
});

test('a surplus slot that an agent takes at the same moment stays', async () => {
  const server = serverWith(3);
  setPolicy(server, { maxConcurrentNodes: 2 });
  await controller(server);
  await expect.poll(() => leasesOf(server), WAIT).toBe(2);
  let isTaken = false;
  server.onRequest = ({ method }) => {
    if (method !== 'DELETE' || isTaken) return;
    isTaken = true;
    setLease(server, 1, 'web-1');
  };
  setPolicy(server, { maxConcurrentNodes: 1 });
  await expect.poll(() => statusOf(server)?.slots, WAIT).toBe(0);
  expect(holderOf(server, 1)).toBe('web-1');
});

test('a slot is freed when the Node of its holder is gone, and not before', async () => {
  const server = serverWith(2);
  const { messages } = await controller(server);
  await expect.poll(() => leasesOf(server), WAIT).toBe(1);
  setLease(server, 0, 'web-1');
  await expect.poll(() => statusOf(server)?.nodesInRecovery, WAIT).toHaveLength(1);
  expect(holderOf(server, 0)).toBe('web-1');
  server.remove('/api/v1/nodes/web-1');
  await expect.poll(() => holderOf(server, 0), WAIT).toBe('');
  await expect.poll(() => statusOf(server)?.nodesInRecovery, WAIT).toEqual([]);
  expect(messages).toContain(
    'Lease kubediag-recovery-0 is free again: node web-1, which held it, does not exist any more',
  );
  expect(eventsOf(server)).toEqual(['SlotFreed']);
});

test('an older API server: rights are not enforced, and everything else works', async () => {
  const server = serverWith(1);
  server.put(ADMISSION, { resources: [{ name: 'validatingwebhookconfigurations' }] });
  // As v1.29.15 answers.
  server.onRequest = ({ path }) => {
    if (path.startsWith(`${ADMISSION}/`)) {
      throw new StoreError('ServiceUnavailable', 'could not find the requested resource');
    }
  };
  server.put('/version', { gitVersion: 'v1.29.0' });
  await controller(server);
  await expect.poll(() => statusOf(server)?.slots, WAIT).toBe(1);
  expect(statusOf(server)?.conditions).toMatchObject([
    { type: 'RightsEnforced', status: 'False', reason: 'PoliciesNotServed' },
    { type: 'RecoveryPermitted', status: 'False', reason: 'RightsNotEnforced' },
  ]);
  setPolicy(server, { withoutAdmissionPolicies: 'Allow' });
  await expect.poll(() => statusOf(server)?.conditions?.[1]?.status, WAIT).toBe('True');
});

test('a failure of the future is corrected, so that a reset reaches it', async () => {
  const server = serverWith(1);
  await controller(server);
  await expect.poll(() => leasesOf(server), WAIT).toBe(1);
  const failure = { nodeName: 'web-0', diagnosis: 'default/d', uid: 'u' };
  const ahead = JSON.stringify([{ ...failure, time: '2099-01-01T00:00:00Z' }]);
  setLease(server, 0, '', { annotations: { [FAILURES_ANNOTATION]: ahead } });
  await expect.poll(() => statusOf(server)?.failures, WAIT).toHaveLength(1);
  const path = `${LEASES}/kubediag-recovery-0`;
  const annotations = () => fieldAt(server.objects.get(path), 'metadata', 'annotations');
  await expect.poll(() => textAt(annotations(), FAILURES_ANNOTATION), WAIT).not.toContain('2099');
  expect(statusOf(server)?.failures?.[0]?.time).not.toContain('2099');
  setPolicy(server, { failuresResetTime: new Date().toISOString() });
  await expect.poll(() => statusOf(server)?.failures, WAIT).toEqual([]);
});

test('a policy that was deleted is created again, and permits nothing until a person says so', async () => {
  const server = serverWith(1);
  const { messages } = await controller(server);
  await expect.poll(() => statusOf(server)?.slots, WAIT).toBe(1);
  expect(specOf(server)).toEqual({});
  server.remove(POLICY);
  await expect.poll(() => statusOf(server)?.slots, WAIT).toBe(1);
  expect(specOf(server)).toEqual({ paused: true });
  expect(permittedOf(server)).toMatchObject({ status: 'False', reason: 'RecoveryPaused' });
  expect(messages.join()).toContain('was deleted and is created again with spec.paused true');
  expect(eventsOf(server)).toEqual(['RecoveryPolicyCreatedAgain']);
});

test('a slot whose Node is deleted stays while its agent renews it', async () => {
  const server = serverWith(2);
  await controller(server);
  await expect.poll(() => leasesOf(server), WAIT).toBe(1);
  const renew = () => setLease(server, 0, 'web-1', {}, { leaseDurationSeconds: 1 });
  renew();
  await expect.poll(() => statusOf(server)?.nodesInRecovery, WAIT).toHaveLength(1);
  server.remove('/api/v1/nodes/web-1');
  for (let times = 0; times < 30; times += 1) {
    renew();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(holderOf(server, 0)).toBe('web-1');
  }
  await expect.poll(() => holderOf(server, 0), WAIT).toBe('');
});

test('a Lease with the name of a slot and without its label is reported', async () => {
  const server = serverWith(1);
  const name = 'kubediag-recovery-0';
  server.put(`${LEASES}/${name}`, { metadata: { name, namespace: 'kubediag' }, spec: {} });
  const { messages } = await controller(server);
  await expect.poll(() => messages.join(), WAIT).toContain(`Lease ${name} has the name of a slot`);
});

test('a policy that cannot be understood says that it permits nothing', async () => {
  const server = serverWith(1);
  await controller(server);
  await expect.poll(() => permittedOf(server)?.status, WAIT).toBe('True');
  setPolicy(server, { maxConcurrentNodes: 'many' });
  await expect.poll(() => permittedOf(server)?.status, WAIT).toBe('False');
  expect(permittedOf(server)?.message).toContain('cannot be used: spec.maxConcurrentNodes: ');
  setPolicy(server, {});
  await expect.poll(() => permittedOf(server)?.status, WAIT).toBe('True');
});

const rightsOf = (server: SyntheticApiServer) =>
  statusOf(server)?.conditions?.find(({ type }) => type === 'RightsEnforced');
const setRightsSince = (server: SyntheticApiServer, rightsEnforcedSince: string) => {
  const policy = { metadata: { name: 'default', generation: 1 }, spec: {} };
  server.put(POLICY, { ...policy, status: { rightsEnforcedSince } });
};

test('says since when authors are checked, and an earlier time counts on', async () => {
  const [fresh, known] = [serverWith(1), serverWith(1)];
  const begun = Math.floor(Date.now() / 1_000) * 1_000;
  setRightsSince(known, '2026-01-01T00:00:00Z');
  await Promise.all([controller(fresh), controller(known)]);
  await expect.poll(() => rightsOf(fresh)?.status, WAIT).toBe('True');
  expect(Date.parse(statusOf(fresh)?.rightsEnforcedSince ?? '')).toBeGreaterThanOrEqual(begun);
  await expect.poll(() => rightsOf(known)?.status, WAIT).toBe('True');
  expect(statusOf(known)?.rightsEnforcedSince).toBe('2026-01-01T00:00:00Z');
});

test('authors are checked again from now on if their policy was created again', async () => {
  const server = serverWith(1);
  setRightsSince(server, '2026-01-01T00:00:00Z');
  const path = `${ADMISSION}/validatingadmissionpolicies/${AUTHOR_POLICY}`;
  const policy = server.objects.get(path);
  const creationTimestamp = '2026-01-01T00:00:01Z';
  server.put(path, { ...policy, metadata: { ...fieldsOf(policy?.metadata), creationTimestamp } });
  await controller(server);
  await expect.poll(() => rightsOf(server)?.status, WAIT).toBe('True');
  expect(statusOf(server)?.rightsEnforcedSince).not.toMatch(/^2026-01-01/);
});

test('a policy that only reports ends the time since which authors are checked', async () => {
  const server = serverWith(1);
  setRightsSince(server, '2026-01-01T00:00:00Z');
  const path = `${ADMISSION}/validatingadmissionpolicybindings/${AUTHOR_POLICY}`;
  const spec = { policyName: AUTHOR_POLICY, validationActions: ['Audit'] };
  server.put(path, { ...server.objects.get(path), spec });
  await controller(server);
  await expect.poll(() => rightsOf(server)?.status, WAIT).toBe('False');
  expect(statusOf(server)?.rightsEnforcedSince).toBeUndefined();
});

test('policies that the API server has and does not ask are not in force', async () => {
  const server = serverWith(1);
  server.enforcesPolicies = false;
  await controller(server);
  await expect.poll(() => rightsOf(server)?.reason, WAIT).toBe('PoliciesNotEnforced');
  expect(permittedOf(server)).toMatchObject({ status: 'False', reason: 'RightsNotEnforced' });
  expect(statusOf(server)?.rightsEnforcedSince).toBeUndefined();
});

test('an answer that says nothing about the policies leaves the time as it was', async () => {
  const server = serverWith(1);
  setRightsSince(server, '2026-01-01T00:00:00Z');
  server.onRequest = ({ query }) => {
    if (query?.dryRun) throw new StoreError('BadRequest', 'webhook "x" failed');
  };
  await controller(server);
  await expect.poll(() => rightsOf(server)?.status, WAIT).toBe('Unknown');
  expect(rightsOf(server)?.message).toContain('webhook "x" failed');
  expect(permittedOf(server)).toMatchObject({ status: 'False', reason: 'RightsNotChecked' });
  expect(statusOf(server)?.rightsEnforcedSince).toBe('2026-01-01T00:00:00Z');
});

function fieldsOf(value: unknown): object {
  return isObject(value) ? value : {};
}
