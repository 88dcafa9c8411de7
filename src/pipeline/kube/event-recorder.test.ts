import { expect, test } from 'vitest';
import { textAt } from '../../lib/std/json.ts';
import { StoreError, type StoreErrorReason } from '../store/store-error.ts';
import { EventRecorder, type RecordedEvent } from './event-recorder.ts';
import type { KubeRequest } from './kube-client.ts';
import { EVENTS_REMEMBERED_MAX } from './limits.ts';

const event: RecordedEvent = {
  regarding: { apiVersion: 'v1', kind: 'Node', name: 'web-3', uid: 'a' },
  type: 'Warning',
  reason: 'DeadVolumeMount',
  action: 'Checked',
  note: 'a volume does not answer',
};

/** A recorder, its clock, and the requests that it sends; the next one can be made to fail. */
function recording() {
  const requests: KubeRequest[] = [];
  const clock = { ms: Date.parse('2026-01-01T00:00:00Z') };
  const failures: StoreErrorReason[] = [];
  const client = {
    request: async (request: KubeRequest) => {
      requests.push(request);
      const failure = failures.shift();
      if (failure) throw new StoreError(failure, 'failed');
      return {};
    },
    watch: () => {
      throw new Error('no watch');
    },
    close: () => {},
  };
  const now = () => new Date(clock.ms);
  const recorder = new EventRecorder(client, { controller: 'c', instance: 'i', now });
  return { recorder, requests, clock, failures };
}

test('creates an Event, and counts the same one in a series', async () => {
  const { recorder, requests, clock } = recording();
  await recorder.record(event);
  clock.ms += 60_000;
  await recorder.record(event);
  clock.ms += 60_000;
  await recorder.record(event);
  const [created, second, third] = requests;
  expect(created).toMatchObject({
    method: 'POST',
    path: '/apis/events.k8s.io/v1/namespaces/default/events',
    body: { eventTime: '2026-01-01T00:00:00.000000Z', reason: 'DeadVolumeMount' },
  });
  const name = textAt(created?.body, 'metadata', 'name');
  expect(name).toMatch(/^web-3\.[0-9a-f]{16}$/);
  const lastObservedTime = '2026-01-01T00:01:00.000000Z';
  expect(second).toMatchObject({
    method: 'PATCH',
    path: `/apis/events.k8s.io/v1/namespaces/default/events/${name}`,
    body: { series: { count: 2, lastObservedTime } },
  });
  expect(third?.body).toMatchObject({ series: { count: 3 } });
});

test('begins a new Event after a pause, and for another note', async () => {
  const { recorder, requests, clock } = recording();
  await recorder.record(event);
  clock.ms += 360_000;
  await recorder.record(event);
  await recorder.record({ ...event, note: 'two volumes do not answer' });
  expect(requests.map(({ method }) => method)).toEqual(['POST', 'POST', 'POST']);
});

test('creates it again when the server has deleted it', async () => {
  const { recorder, requests, failures } = recording();
  await recorder.record(event);
  failures.push('NotFound');
  await recorder.record(event);
  expect(requests.map(({ method }) => method)).toEqual(['POST', 'PATCH', 'POST']);
});

test('writes one Event although the answer to the first attempt is lost', async () => {
  const { recorder, requests, failures } = recording();
  failures.push('ServiceUnavailable', 'AlreadyExists');
  await expect(recorder.record(event)).rejects.toThrow('failed');
  await recorder.record(event);
  await recorder.record(event);
  const [first, again, third] = requests;
  expect(again).toEqual(first);
  expect(third?.body).toMatchObject({ series: { count: 2 } });
});

test('cuts a long note between characters', async () => {
  const { recorder, requests } = recording();
  await recorder.record({ ...event, note: 'é'.repeat(1000) });
  const note = textAt(requests[0]?.body, 'note') ?? '';
  expect(note).toMatch(/^é{510}…$/);
  expect(Buffer.byteLength(note)).toBeLessThanOrEqual(1024);
});

test('remembers a bounded number of Events', async () => {
  const { recorder, requests } = recording();
  const numbered = (count: number) => ({ ...event, note: `volume ${count}` });
  for (let count = 0; count <= EVENTS_REMEMBERED_MAX; count += 1) {
    await recorder.record(numbered(count));
  }
  await recorder.record(numbered(0));
  await recorder.record(numbered(EVENTS_REMEMBERED_MAX));
  expect(requests.slice(-2).map(({ method }) => method)).toEqual(['POST', 'PATCH']);
});

test.each([
  ['letters', 'a'.repeat(253)],
  ['dots where it is cut', `${'a'.repeat(230)}${'.'.repeat(8)}${'b'.repeat(15)}`],
])('gives an Event a valid name, also for the longest object name: %s', async (_, name) => {
  const { recorder, requests } = recording();
  await recorder.record({ ...event, regarding: { ...event.regarding, name } });
  const given = textAt(requests[0]?.body, 'metadata', 'name') ?? '';
  expect(given.length).toBeLessThanOrEqual(253);
  expect(given).toMatch(/^a{230,236}[.][0-9a-f]{16}$/);
  expect(requests[0]?.body).toMatchObject({ regarding: { name } });
});

test('an attempt that failed does not count', async () => {
  const { recorder, requests, failures } = recording();
  await recorder.record(event);
  failures.push('ServiceUnavailable', 'TooManyRequests');
  await expect(recorder.record(event)).rejects.toThrow('failed');
  await expect(recorder.record(event)).rejects.toThrow('failed');
  await recorder.record(event);
  await recorder.record(event);
  const counts = requests.slice(1).map(({ body }) => body);
  expect(counts).toMatchObject([2, 2, 2, 3].map((count) => ({ series: { count } })));
});
