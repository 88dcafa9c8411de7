import { expect, test } from 'vitest';
import { FAILURES_ANNOTATION, SLOT_LABEL } from '../../../pipeline/api/cluster-names.ts';
import type { LeaseDigest } from '../digests.ts';
import { decideSlots, slotsIn } from './decide-slots.ts';

const NOW = new Date('2026-01-05T12:00:00Z');

function lease(name: string, holder = '', annotations = {}): LeaseDigest {
  return {
    ...{ name, holder, annotations, resourceVersion: '7', labels: { [SLOT_LABEL]: 'true' } },
    ...{ durationSeconds: 0, acquireTime: undefined, seenAtMs: 0, isRenewed: false },
  };
}

/** "2 3:web" are the free slot 2, and slot 3 that node web holds. */
function slotsOf(text: string) {
  const words = text === '' ? [] : text.split(' ');
  return slotsIn(
    words.map((word) => {
      const [number = '', holder] = word.split(':');
      return lease(`kubediag-recovery-${number}`, holder);
    }),
    NOW,
  );
}

const cases = [
  { why: 'creates all', slots: '', wanted: 3, missing: [0, 1, 2], usable: 3 },
  { why: 'creates those between', slots: '0 2', wanted: 3, missing: [1], usable: 3 },
  { why: 'leaves what is right', slots: '0 1:web 2', wanted: 3, usable: 3 },
  { why: 'deletes free ones beyond', slots: '0 1 2 3', wanted: 2, surplus: [2, 3], usable: 2 },
  { why: 'never deletes a held one', slots: '0 1 2:web 3', wanted: 2, surplus: [3], usable: 1 },
  { why: 'counts held ones beyond', slots: '0 1 2:a 3:b', wanted: 2, usable: 0 },
  { why: 'counts all held ones', slots: '0 1:a 4:b', wanted: 2, usable: 0 },
  { why: 'permits what is left', slots: '0 1 2 3 8:a', wanted: 4, usable: 3 },
  { why: 'held ones within do not count twice', slots: '0:a 1:b', wanted: 2, usable: 2 },
  { why: 'waits for more held ones than wanted', slots: '0:a 1:b 2:c', wanted: 1, usable: 0 },
] as const;

test.each(cases)('$why ($slots, $wanted wanted)', ({ slots, wanted, usable, ...expected }) => {
  const named = (numbers: readonly number[] = []) => numbers.map((at) => `kubediag-recovery-${at}`);
  const decision = decideSlots(slotsOf(slots), wanted);
  expect(decision.missing).toEqual(named('missing' in expected ? expected.missing : []));
  expect(decision.surplus.map(({ name }) => name)).toEqual(
    named('surplus' in expected ? expected.surplus : []),
  );
  expect(decision.usable).toBe(usable);
});

test('Leases without the label or the name are none, and ones without a number of ours are surplus', () => {
  const leases = [
    lease('kubediag-recovery-10'),
    lease('kubediag-recovery-9'),
    lease('kubediag-recovery-010'),
    // The Lease of an agent, which may label it.
    lease('web-1', 'web-1'),
    { ...lease('kubediag-recovery-8'), labels: {} },
  ];
  const slots = slotsIn(leases, NOW);
  expect(slots.map(({ number }) => number)).toEqual([9, 10, undefined]);
  const { surplus, usable } = decideSlots(slots, 11);
  expect(surplus.map(({ name }) => name)).toEqual(['kubediag-recovery-010']);
  expect(usable).toBe(11);
});

test('the failures of a slot are in its annotation', () => {
  const failure = {
    ...{ nodeName: 'web', diagnosis: 'default/d', uid: 'u' },
    time: '2026-01-01T00:00:00Z',
  };
  const annotations = { [FAILURES_ANNOTATION]: JSON.stringify([failure, 'garbage']) };
  const [slot] = slotsIn([lease('kubediag-recovery-0', '', annotations)], NOW);
  expect(slot?.failures).toEqual([failure]);
  expect(slot?.correctedAnnotation).toBeUndefined();
});

test('a failure of the future is corrected', () => {
  const failure = { nodeName: 'web', diagnosis: 'default/d', uid: 'u' };
  const written = JSON.stringify([{ ...failure, time: '2099-01-01T00:00:00Z' }]);
  const annotations = { [FAILURES_ANNOTATION]: written };
  const [slot] = slotsIn([lease('kubediag-recovery-0', '', annotations)], NOW);
  const corrected = [{ ...failure, time: '2026-01-05T12:00:00Z' }];
  expect(slot?.failures).toEqual(corrected);
  expect(JSON.parse(slot?.correctedAnnotation ?? '')).toEqual(corrected);
});
