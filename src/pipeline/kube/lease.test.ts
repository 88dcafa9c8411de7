import { expect, test } from 'vitest';
import { SyntheticApiServer } from '../../../test/synthetic-api-server.ts';
import { decideLease, Lease } from './lease.ts';

const lease = { holder: 'a', durationSeconds: 15, unchangedMs: 0 };

test.each([
  ['does not exist', undefined, 'create'],
  ['is ours', { ...lease, holder: 'me' }, 'renew'],
  ['is ours and has expired', { ...lease, holder: 'me', unchangedMs: 99_000 }, 'renew'],
  ['was released', { ...lease, holder: '' }, 'acquire'],
  ['was renewed lately', { ...lease, unchangedMs: 14_999 }, 'wait'],
  ['has expired', { ...lease, unchangedMs: 15_000 }, 'acquire'],
])('a Lease that %s', (_, seen, decision) => {
  expect(decideLease(seen, 'me')).toBe(decision);
});

test.each([
  ['does not exist', undefined, 'wait'],
  ['is ours', { ...lease, holder: 'me' }, 'renew'],
  ['is free', { ...lease, holder: '' }, 'acquire'],
  ['has a silent holder', { ...lease, unchangedMs: 99_000 }, 'wait'],
])('a slot that %s', (_, seen, decision) => {
  expect(decideLease(seen, 'me', 'free')).toBe(decision);
});

const SLOT = '/apis/coordination.k8s.io/v1/namespaces/kubediag/leases/slot';

/** A free slot, and the Lease of one that has read it. */
function freeSlot() {
  const api = new SyntheticApiServer();
  const holdBy = (holderIdentity: string) =>
    api.put(SLOT, { ...api.objects.get(SLOT), spec: { holderIdentity } });
  const seen = holdBy('');
  const options = { namespace: 'kubediag', name: 'slot', holder: 'me', durationSeconds: 1 };
  const slot = { seen, annotations: () => undefined };
  return { holdBy, slot: new Lease(api, { ...options, slot }) };
}

test('a slot that somebody has written since it was read is not acquired', async () => {
  const { slot, holdBy } = freeSlot();
  holdBy('');
  expect(await slot.hold()).toBe(false);
});

test('a slot that was released during its use is not acquired again', async () => {
  const { slot, holdBy } = freeSlot();
  expect(await slot.hold()).toBe(true);
  holdBy('me');
  expect(await slot.hold()).toBe(true);
  holdBy('');
  expect(await slot.hold()).toBe(false);
});
