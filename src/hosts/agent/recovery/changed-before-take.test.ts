import { expect, test } from 'vitest';
import type { SyntheticApiServer } from '../../../../test/synthetic-api-server.ts';
import { fleetNode, repairStep } from '../../../../test/synthetic-fleet.ts';
import {
  apiServer,
  DONE,
  hold,
  holders,
  LEASES,
  POLICY,
  permit,
} from '../../../../test/synthetic-slots.ts';
import { fieldAt } from '../../../lib/std/json.ts';

/** Does something once, just before a slot is taken. */
function beforeTake(api: SyntheticApiServer, change: () => void): void {
  let isDone = false;
  api.onRequest = ({ method }) => {
    if (method !== 'PUT' || isDone) return;
    isDone = true;
    change();
  };
}

const NIGHT = { maintenanceWindows: [{ schedule: '0 1 * * *', durationSeconds: 3_600 }] };

test('a window that closes before the slot is taken begins no repair', async () => {
  const api = apiServer(1, NIGHT);
  let now = new Date('2026-01-05T01:59:00Z');
  beforeTake(api, () => {
    now = new Date('2026-01-05T02:01:00Z');
  });
  const node = fleetNode(api, 'web-1', { run: async () => DONE, slots: { now: () => now } });
  expect(await node.step(repairStep('web-1'))).toMatchObject({
    notNow: { reason: 'OutsideMaintenanceWindow' },
  });
  expect(holders(api)).toEqual(['']);
});

const FAILURE = {
  ...{ nodeName: 'web-2', diagnosis: 'default/web', uid: 'u' },
  time: '2026-01-05T01:00:00Z',
};

test.each([
  ['the Lease', 0],
  ['another Lease', 1],
])('the failure that stops all repairs is in %s before the slot is taken', async (_, slot) => {
  const api = apiServer(2, { stopAfterFailures: 1 });
  hold(api, 1, 'web-2');
  beforeTake(api, () => {
    const path = `${LEASES}/kubediag-recovery-${slot}`;
    const lease = api.objects.get(path);
    const annotations = { 'diagnosis.kubediag.org/failures': JSON.stringify([FAILURE]) };
    api.put(path, {
      ...lease,
      metadata: { ...(fieldAt(lease, 'metadata') as object), annotations },
      spec: { holderIdentity: '' },
    });
  });
  const node = fleetNode(api, 'web-1', { run: async () => DONE });
  expect(await node.step(repairStep('web-1'))).toMatchObject({
    notNow: { reason: 'RecoveryStopped' },
  });
  expect(holders(api)).toEqual(['', slot === 0 ? 'web-2' : '']);
});

test('a failure that the controller moves from a Lease to the policy is in one of both', async () => {
  const api = apiServer(2, { stopAfterFailures: 1 });
  hold(api, 1, 'web-2');
  const path = `${LEASES}/kubediag-recovery-1`;
  let readsAfter = 0;
  let isTaken = false;
  api.onRequest = ({ method }) => {
    if (method === 'PUT' && !isTaken) {
      isTaken = true;
      const annotations = { 'diagnosis.kubediag.org/failures': JSON.stringify([FAILURE]) };
      const metadata = fieldAt(api.objects.get(path), 'metadata') as object;
      api.put(path, { metadata: { ...metadata, annotations }, spec: { holderIdentity: '' } });
    } else if (isTaken && method === 'GET') readsAfter += 1;
    if (readsAfter !== 2) return;
    const policy = api.objects.get(POLICY);
    api.put(POLICY, {
      ...policy,
      status: { ...(policy?.status as object), failures: [FAILURE] },
    });
    api.remove(path);
  };
  const node = fleetNode(api, 'web-1', { run: async () => DONE });
  expect(await node.step(repairStep('web-1'))).toMatchObject({
    notNow: { reason: 'RecoveryStopped' },
  });
});

test('fewer nodes of a percentage before the slot is taken: its number is compared again', async () => {
  const api = apiServer(2, { maxConcurrentNodes: '10%' });
  hold(api, 0, 'web-2');
  beforeTake(api, () => permit(api, 1, { maxConcurrentNodes: '10%' }));
  const node = fleetNode(api, 'web-1', { run: async () => DONE });
  expect(await node.step(repairStep('web-1'))).toMatchObject({
    notNow: { reason: 'NoRecoverySlot' },
  });
  expect(holders(api)).toEqual(['web-2', '']);
});

test('a slot that a node held before is not released before the journal is settled', async () => {
  const api = apiServer(1, NIGHT);
  hold(api, 0, 'web-1');
  let now = new Date('2026-01-05T01:59:00Z');
  beforeTake(api, () => {
    now = new Date('2026-01-05T02:01:00Z');
  });
  const node = fleetNode(api, 'web-1', { run: async () => DONE, slots: { now: () => now } });
  expect(await node.step(repairStep('web-1'))).toHaveProperty('notNow');
  expect(holders(api)).toEqual(['web-1']);
});
