import { expect, test } from 'vitest';
import { retried } from './store-answer.ts';
import { StoreError, type StoreErrorReason } from './store-error.ts';

const LACKS =
  'pods is forbidden: User "system:serviceaccount:a:b" cannot list resource "pods" in API group ""';
const shutdown = new AbortController().signal;

/** Fails so often, and then succeeds. */
function failing(times: number, reason: StoreErrorReason, message: string) {
  let requests = 0;
  const request = async () => {
    requests += 1;
    if (requests <= times) throw new StoreError(reason, message);
    return 'done';
  };
  return { request, requests: () => requests };
}

test.each([
  ['an API server that is away', 'ServiceUnavailable', 'connection refused'],
  ['a token that was rejected', 'Unauthorized', 'Unauthorized'],
  ['an API server that has not read its roles yet', 'Forbidden', LACKS],
] as const)('asks again: %s', async (_, reason, message) => {
  const { request } = failing(2, reason, message);
  expect(await retried(request, { shutdown })).toEqual({ ok: true, value: 'done' });
});

test.each([
  ['what does not exist', 'NotFound', 'pods "a" not found'],
  ['a quota', 'Forbidden', 'exceeded quota: count/diagnoses=2'],
] as const)('does not ask again for %s', async (_, reason, message) => {
  const { request, requests } = failing(2, reason, message);
  expect(await retried(request, { shutdown })).toMatchObject({ ok: false, error: { reason } });
  expect(requests()).toBe(1);
});

test('reports a right that is missing for longer than an API server takes to start', async () => {
  const { request } = failing(Number.POSITIVE_INFINITY, 'Forbidden', LACKS);
  const answer = await retried(request, { shutdown, lacksRightMs: 200 });
  expect(answer).toMatchObject({ ok: false, error: { reason: 'Forbidden', message: LACKS } });
});
