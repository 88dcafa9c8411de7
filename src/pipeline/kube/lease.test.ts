import { expect, test } from 'vitest';
import { decideLease } from './lease.ts';

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
  expect(decideLease(seen, 'me', true)).toBe(decision);
});
