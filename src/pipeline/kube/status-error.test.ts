import { expect, test } from 'vitest';
import { isTemporary } from '../store/store-error.ts';
import { errorOfAnswer, errorOfEvent, ListExpiredError } from './status-error.ts';

const named = { details: { name: 'one', kind: 'diagnoses' } };

const uid = (expected: string) =>
  `StorageError: invalid object, Code: 4, Key: /registry/leases/default/l, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${expected}, UID in object meta:`;

// Bodies as API server v1.36.3 gives them, shortened.
test.each([
  [400, { reason: 'BadRequest' }, 'BadRequest'],
  [401, { reason: 'Unauthorized' }, 'Unauthorized'],
  [403, { reason: 'Forbidden', ...named }, 'Forbidden'],
  [404, { reason: 'NotFound', ...named }, 'NotFound'],
  // The kind is not installed.
  [404, { reason: 'NotFound', details: {} }, 'ServiceUnavailable'],
  [404, '404 page not found', 'ServiceUnavailable'],
  [405, { reason: 'MethodNotAllowed' }, 'BadRequest'],
  [409, { reason: 'AlreadyExists', ...named }, 'AlreadyExists'],
  [409, { reason: 'Conflict', ...named }, 'Conflict'],
  [409, { reason: 'Conflict', message: `${uid('0cf70e48')} ` }, 'NotFound'],
  [409, { reason: 'Conflict', message: `${uid('0cf70e48')} a62bb580` }, 'Conflict'],
  [410, { reason: 'Expired' }, 'Expired'],
  [410, { reason: 'Gone' }, 'Expired'],
  [413, { reason: 'RequestEntityTooLarge' }, 'RequestEntityTooLarge'],
  [422, { reason: 'Invalid', ...named }, 'Invalid'],
  [429, { reason: 'TooManyRequests' }, 'TooManyRequests'],
  [500, { reason: 'InternalError' }, 'ServiceUnavailable'],
  [500, { message: 'etcdserver: request is too large' }, 'RequestEntityTooLarge'],
  [500, { message: 'etcdserver: mvcc: database space exceeded' }, 'ServiceUnavailable'],
  [502, '<html>', 'ServiceUnavailable'],
  [504, { reason: 'Timeout' }, 'ServiceUnavailable'],
  [504, { details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } }, 'Expired'],
])('%i %j is %s', (code, status, reason) => {
  const error = errorOfAnswer('GET /a', code, status);
  expect(error.reason).toBe(reason);
  const temporary = ['ServiceUnavailable', 'TooManyRequests', 'Unauthorized'];
  expect(isTemporary(error)).toBe(temporary.includes(reason));
});

test('says what was asked and what the server says', () => {
  expect(errorOfAnswer('GET /a', 422, { message: 'spec: no target' }).message).toBe(
    'GET /a: spec: no target',
  );
  expect(errorOfAnswer('GET /a', 502, undefined).message).toBe('GET /a: the server answered 502');
});

test('waits as long as the server asks, within reason', () => {
  const waitOf = (header: string | undefined, status: unknown = {}) =>
    errorOfAnswer('GET /a', 429, status, header).retryAfterMs;
  expect(waitOf('2')).toBe(2000);
  expect(waitOf(undefined, { details: { retryAfterSeconds: 3 } })).toBe(3000);
  expect(waitOf('Fri, 31 Dec 1999 23:59:59 GMT')).toBeUndefined();
  expect(waitOf('-1')).toBeUndefined();
  expect(waitOf('86400')).toBe(300_000);
});

test('has the token that continues a list', () => {
  const status = { reason: 'Expired', metadata: { continue: 'abc' } };
  const error = errorOfAnswer('GET /a', 410, status);
  expect(error).toBeInstanceOf(ListExpiredError);
  expect(error).toMatchObject({ reason: 'Expired', token: 'abc' });
});

test('reads the error of a watch event', () => {
  const object = { code: 410, reason: 'Expired', message: 'too old resource version: 1 (9)' };
  expect(errorOfEvent('watch /a', { type: 'ERROR', object }).reason).toBe('Expired');
  expect(errorOfEvent('watch /a', { type: 'ERROR' }).reason).toBe('ServiceUnavailable');
});
