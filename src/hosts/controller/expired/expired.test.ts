import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { SyntheticController } from '../../../../test/synthetic-controller.ts';
import { PARENT_LABEL } from '../../../pipeline/api/cluster-names.ts';
import { API_VERSION } from '../../../pipeline/api/kind-names.ts';
import { diagnosisDigest } from '../digests.ts';
import { isExpired } from './decide-expired.ts';
import { expired } from './expired.ts';

const HOUR_MS = 3_600_000;
const NOW = new Date('2026-01-02T12:00:00Z');
const OWNER = { apiVersion: API_VERSION, kind: 'Diagnosis', uid: 'p', controller: true };
const ENDED = { phase: 'Failed', endTime: '2026-01-02T11:59:00Z' };

function digestOf(
  status: object,
  more: object = {},
  spec: object = { ttlSecondsAfterFinished: 60 },
) {
  const creationTimestamp = '2026-01-02T11:00:00Z';
  return { metadata: { uid: 'u', resourceVersion: '1', creationTimestamp, ...more }, spec, status };
}

const due = (object: object, now = NOW, laterMs = 0) =>
  isExpired(diagnosisDigest(object, undefined, now), performance.now() + laterMs);

test.each([
  ['its TTL has passed', digestOf(ENDED), true],
  ['it has not passed yet', digestOf({ ...ENDED, endTime: '2026-01-02T11:59:02Z' }), false],
  ['it was extended', digestOf(ENDED, {}, { ttlSecondsAfterFinished: 90 }), false],
  ['it has none', digestOf(ENDED, {}, {}), false],
  ['it has not ended', digestOf({ phase: 'Running' }), false],
  [
    'it belongs to another one',
    digestOf(ENDED, { labels: { [PARENT_LABEL]: 'p' }, ownerReferences: [OWNER] }),
    false,
  ],
  ['it only says so', digestOf(ENDED, { labels: { [PARENT_LABEL]: 'p' } }), true],
  ['it is being deleted', digestOf(ENDED, { deletionTimestamp: '2026-01-02T12:00:00Z' }), false],
  [
    'it ended before it began, so its clock is behind',
    digestOf(
      { ...ENDED, endTime: '2020-01-01T00:00:00Z' },
      { creationTimestamp: '2026-01-02T11:59:30Z' },
    ),
    false,
  ],
  [
    'it has a TTL of zero',
    digestOf({ ...ENDED, endTime: '2026-01-02T12:00:00Z' }, {}, { ttlSecondsAfterFinished: 0 }),
    true,
  ],
  ['its end is in the future', digestOf({ ...ENDED, endTime: '2026-01-03T00:00:00Z' }), false],
])('deletes it or not when %s', (_, object, expected) => {
  expect(due(object)).toBe(expected);
});

test('a clock that is set after a Diagnosis was seen deletes nothing, and later its TTL passes', () => {
  const ended = digestOf({ ...ENDED, endTime: '2026-01-02T11:59:30Z' });
  const seen = diagnosisDigest(ended, undefined, NOW);
  // Seen again after the clock was set.
  const later = new Date(NOW.getTime() + HOUR_MS);
  const again = digestOf(ended.status, { resourceVersion: '2' });
  const digest = diagnosisDigest(again, seen, later);
  expect(isExpired(digest, performance.now())).toBe(false);
  expect(isExpired(digest, performance.now() + 31_000)).toBe(true);
});

test('one that we have seen end ended then, whatever its endTime says', () => {
  const running = diagnosisDigest(digestOf({ phase: 'Running' }), undefined, NOW);
  const ended = digestOf({ ...ENDED, endTime: '2026-01-02T11:00:00Z' }, { resourceVersion: '2' });
  const digest = diagnosisDigest(ended, running, NOW);
  expect(isExpired(digest, performance.now())).toBe(false);
  expect(isExpired(digest, performance.now() + 60_000)).toBe(true);
});

const started: SyntheticController[] = [];
afterEach(() => {
  for (const each of started.splice(0)) each.stop();
});

test('deletes what has expired, and nothing that another writer has changed meanwhile', async () => {
  const controller = new SyntheticController();
  started.push(controller);
  const spec = { nodeName: 'a', ttlSecondsAfterFinished: 60 };
  controller.diagnosis('old', spec, ENDED);
  controller.diagnosis('extended', spec, ENDED);
  await controller.start();
  let isFirst = true;
  controller.api.onRequest = ({ method, path }) => {
    if (method !== 'DELETE' || !path.endsWith('/extended') || !isFirst) return;
    isFirst = false;
    controller.change('extended', { spec: { ttlSecondsAfterFinished: 2_000_000_000 } });
  };
  void expired(controller.context);
  await expect.poll(() => controller.stored('old')).toBeUndefined();
  await sleep(500);
  expect(isFirst).toBe(false);
  expect(controller.stored('extended')).toBeDefined();
});
