import { expect, test } from 'vitest';
import { syntheticServer } from '../../../test/synthetic-server.ts';
import { StoreError } from '../../pipeline/store/store-error.ts';
import { ALERTS_MAX } from '../../pipeline/triggers/limits.ts';
import type { TriggerEvent } from '../../pipeline/triggers/trigger-event.ts';

const ALERT = { labels: { alertname: 'Down' }, annotations: {}, startsAt: '2021-06-03T08:02:24Z' };
const EVENT = { summary: 's', source: 'monitor', severity: 'error' };

/** A server that remembers what was taken in. */
async function remembering() {
  const taken: TriggerEvent[] = [];
  const server = await syntheticServer({
    takeIn: async (events) => {
      taken.push(...events);
      return events.map(() => ({ what: 'it', diagnoses: [], notes: [] }));
    },
  });
  return { ...server, taken };
}

test.each([
  ['Prometheus of old', '/api/v1/alerts', [ALERT]],
  ['Prometheus of today', '/api/v2/alerts', [ALERT]],
  ['the webhook of Alertmanager', '/api/v2/alerts', { version: '4', alerts: [ALERT] }],
])('accepts alerts from %s', async (_, path, body) => {
  const { ask, taken } = await remembering();
  const { code, text } = await ask('POST', path, body);
  expect(code).toBe(200);
  expect(JSON.parse(text)).toEqual({ results: [{ what: 'it', diagnoses: [], notes: [] }] });
  expect(taken).toMatchObject([{ source: 'prometheusAlertTemplate', what: { isResolved: false } }]);
});

test('accepts an event', async () => {
  const { ask, taken } = await remembering();
  const event = { ...EVENT, class: 'highCPU', custom_details: { 'load avg': '0.75' } };
  expect((await ask('POST', '/api/v1/commonevent', event)).code).toBe(200);
  expect(taken).toMatchObject([
    {
      source: 'commonEventTemplate',
      what: { class: 'highCPU', group: '', customDetails: { 'load avg': '0.75' } },
    },
  ]);
});

test('handles the other alerts beside a malformed one', async () => {
  const { ask, taken } = await remembering();
  const bad = { labels: { alertname: 5 } };
  const { code, text } = await ask('POST', '/api/v2/alerts', [ALERT, bad, ALERT]);
  expect(code).toBe(400);
  expect(taken).toHaveLength(2);
  expect(JSON.parse(text)).toMatchObject({
    results: [
      { what: 'it' },
      { what: 'event 2', notes: ['malformed: "alertname" is not a string'] },
      { what: 'it' },
    ],
  });
});

test.each([
  ['a GET', 'GET', '/api/v1/alerts', undefined, 405, 'use POST'],
  ['no list', 'POST', '/api/v1/alerts', { labels: {} }, 400, 'a list of alerts'],
  ['no JSON', 'POST', '/api/v2/alerts', '[{', 400, 'not valid JSON'],
  ['no severity', 'POST', '/api/v1/commonevent', { ...EVENT, severity: '' }, 400, '\\"severity\\"'],
  ['a list of events', 'POST', '/api/v1/commonevent', [], 400, 'not an object'],
  [
    'too many',
    'POST',
    '/api/v2/alerts',
    Array.from({ length: ALERTS_MAX + 1 }, () => ALERT),
    413,
    'send them in parts',
  ],
  ['another path', 'POST', '/api/v3/alerts', [ALERT], 404, '/api/v2/alerts'],
])('%s is refused with its reason', async (_, method, path, body, wanted, words) => {
  const { ask, taken, defects } = await remembering();
  const { code, text } = await ask(method, path, body);
  expect(code).toBe(wanted);
  expect(text).toContain(words);
  expect([taken, defects]).toEqual([[], []]);
});

test('creates nothing without a token', async () => {
  const { ask, taken } = await remembering();
  expect((await ask('POST', '/api/v2/alerts', [ALERT], {})).code).toBe(401);
  expect(taken).toEqual([]);
});

test('a store that fails lets the sender try again', async () => {
  const { ask } = await syntheticServer({
    takeIn: () => Promise.reject(new StoreError('ServiceUnavailable', 'the disk is full')),
  });
  expect(await ask('POST', '/api/v2/alerts', [ALERT])).toMatchObject({ code: 503 });
});
