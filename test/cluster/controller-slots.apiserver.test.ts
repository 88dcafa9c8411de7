import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { fieldAt, listAt, textAt } from '../../src/lib/std/json.ts';
import {
  FAILURES_ANNOTATION,
  NAMESPACE,
  RIGHTS_POLICIES,
} from '../../src/pipeline/api/cluster-names.ts';
import { API_VERSION } from '../../src/pipeline/api/kind-names.ts';
import { type ApiServer, startApiServer } from '../rig/api-server.ts';
import { type ControllerHere, controllerHere, createNamespace } from '../rig/controller-here.ts';

/** RecoveryPolicy and slots on a real API server: what it refuses and changes shows here. */

const POLICY = `/apis/${API_VERSION}/recoverypolicies/default`;
const LEASES = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases`;
const ADMISSION = '/apis/admissionregistration.k8s.io/v1';
const BINDINGS = `${ADMISSION}/validatingadmissionpolicybindings`;
// The admission policies are read every 30 s.
const WAIT = { timeout: 60_000, interval: 100 };

let api: ApiServer;
let controller: ControllerHere;

beforeAll(async () => {
  api = await startApiServer();
  await createNamespace(api);
  for (const name of ['web-1', 'web-2']) await createNode(name);
  controller = await controllerHere(api, { builtIns: [] });
});
afterAll(async () => {
  await controller.stop();
  await api.stop();
});

const get = (path: string) => api.client.request({ method: 'GET', path });

function createNode(name: string) {
  const body = { apiVersion: 'v1', kind: 'Node', metadata: { name } };
  return api.client.request({ method: 'POST', path: '/api/v1/nodes', body });
}

function patch(path: string, body: object) {
  const contentType = 'application/merge-patch+json';
  return api.client.request({ method: 'PATCH', path, body, contentType });
}

async function status(...path: readonly string[]) {
  return fieldAt(await get(POLICY), 'status', ...path);
}

async function condition(type: string) {
  const conditions = listAt(await get(POLICY), 'status', 'conditions') ?? [];
  const found = conditions.find((each) => textAt(each, 'type') === type);
  return `${textAt(found, 'status')} ${textAt(found, 'reason')}`;
}

async function slots() {
  const labelSelector = 'diagnosis.kubediag.org/recovery-slot';
  const list = await api.client.request({ method: 'GET', path: LEASES, query: { labelSelector } });
  return listAt(list, 'items')?.map((each) => textAt(each, 'metadata', 'name')) ?? [];
}

test('policy and slot exist, and nothing is permitted without admission policies', async () => {
  await expect.poll(slots, WAIT).toEqual(['kubediag-recovery-0']);
  await expect.poll(() => condition('RightsEnforced'), WAIT).toBe('False PoliciesMissing');
  expect(await condition('RecoveryPermitted')).toBe('False RightsNotEnforced');
  expect(await status('observedGeneration')).toBe(1);
});

test('rights are enforced when the policies of the installation are there', async () => {
  const begunMs = Date.now();
  const text = await readFile('deploy/kubediag.yaml', 'utf8');
  for (const document of parseAllDocuments(text)) {
    const object: unknown = document.toJS();
    const kind = textAt(object, 'kind') ?? '';
    if (!kind.startsWith('ValidatingAdmissionPolicy')) continue;
    const plural = kind.endsWith('Binding') ? 'bindings' : 'policies';
    const path = `${ADMISSION}/validatingadmission${plural === 'bindings' ? 'policybindings' : 'policies'}`;
    await api.client.request({ method: 'POST', path, body: object });
  }
  await expect.poll(() => condition('RightsEnforced'), WAIT).toBe('True PoliciesInForce');
  expect(await condition('RecoveryPermitted')).toBe('True RecoveryPermitted');
  const since = String(await status('rightsEnforcedSince'));
  expect(Date.parse(since)).toBeGreaterThan(begunMs);
  // Else the next Diagnosis would be older.
  expect(Date.parse(since)).toBeLessThanOrEqual(Date.now());
  // One that only reports is not in force.
  const [name] = RIGHTS_POLICIES;
  await patch(`${BINDINGS}/${name}`, { spec: { validationActions: ['Audit'] } });
  await expect.poll(() => condition('RightsEnforced'), WAIT).toBe('False PoliciesMissing');
  expect(await status('rightsEnforcedSince')).toBeUndefined();
  await patch(`${BINDINGS}/${name}`, { spec: { validationActions: ['Deny'] } });
  await expect.poll(() => condition('RecoveryPermitted'), WAIT).toBe('True RecoveryPermitted');
  expect(String(await status('rightsEnforcedSince')) > since).toBe(true);
});

test('slots follow the policy; a held one stays, and its failures too', async () => {
  await patch(POLICY, { spec: { maxConcurrentNodes: 12 } });
  await expect.poll(async () => (await slots()).length, WAIT).toBe(12);
  expect(await status('slots')).toBe(12);
  const lease = `${LEASES}/kubediag-recovery-11`;
  const failed = {
    nodeName: 'web-1',
    diagnosis: 'default/d',
    uid: 'd',
    time: '2026-01-01T00:00:00Z',
  };
  const acquireTime = '2026-01-01T00:00:00.000000Z';
  await patch(lease, {
    metadata: { annotations: { [FAILURES_ANNOTATION]: JSON.stringify([failed]) } },
    spec: { holderIdentity: 'web-1', leaseDurationSeconds: 120, acquireTime },
  });
  await expect
    .poll(() => status('nodesInRecovery'), WAIT)
    .toEqual([{ nodeName: 'web-1', lease: 'kubediag-recovery-11', since: acquireTime }]);
  await patch(POLICY, { spec: { maxConcurrentNodes: '50%' } });
  await expect.poll(slots, WAIT).toEqual(['kubediag-recovery-0', 'kubediag-recovery-11']);
  expect(await status('slots')).toBe(0);
  await patch(lease, { spec: { holderIdentity: '' } });
  await expect.poll(slots, WAIT).toEqual(['kubediag-recovery-0']);
  await expect.poll(() => status('slots'), WAIT).toBe(1);
  expect(await status('failures')).toEqual([failed]);
});

test('a window opens and closes by itself', async () => {
  const schedule = `${new Date(Date.now() + 5_000).getUTCMinutes()} * * * *`;
  const maintenanceWindows = [{ schedule, durationSeconds: 60 }];
  await patch(POLICY, { spec: { maintenanceWindows } });
  await expect
    .poll(() => condition('RecoveryPermitted'), { timeout: 90_000, interval: 100 })
    .toBe('True RecoveryPermitted');
  await expect
    .poll(() => condition('RecoveryPermitted'), { timeout: 90_000, interval: 100 })
    .toBe('False OutsideMaintenanceWindow');
  await patch(POLICY, { spec: { maintenanceWindows: null } });
});

test('a slot is freed when the Node of its holder is deleted', async () => {
  const lease = `${LEASES}/kubediag-recovery-0`;
  await patch(lease, { spec: { holderIdentity: 'web-2' } });
  await expect
    .poll(async () => listAt(await get(POLICY), 'status', 'nodesInRecovery'), WAIT)
    .toHaveLength(1);
  await api.client.request({ method: 'DELETE', path: '/api/v1/nodes/web-2' });
  await expect.poll(async () => textAt(await get(lease), 'spec', 'holderIdentity'), WAIT).toBe('');
  const events = await get('/apis/events.k8s.io/v1/namespaces/default/events');
  const reasons = listAt(events, 'items')?.map((each) => textAt(each, 'reason'));
  expect(reasons).toContain('SlotFreed');
});
