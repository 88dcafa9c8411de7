import { fieldAt, listAt, numberAt, textAt } from '../../lib/std/json.ts';
import { StoreError, type StoreErrorReason } from '../store/store-error.ts';
import { RETRY_AFTER_MAX_MS } from './limits.ts';

/** Reasons of the API that the code alone does not give. */
const REASONS: Readonly<Record<string, StoreErrorReason>> = {
  AlreadyExists: 'AlreadyExists',
  Conflict: 'Conflict',
  Expired: 'Expired',
  Gone: 'Expired',
  Invalid: 'Invalid',
  NotFound: 'NotFound',
};

const CODES: Readonly<Record<number, StoreErrorReason>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Expired',
  413: 'RequestEntityTooLarge',
  422: 'Invalid',
  429: 'TooManyRequests',
};

// etcdserver: request is too large
// rpc error: code = ResourceExhausted desc = trying to send message larger than max (3145999 vs. 2097152)
const TOO_LARGE_FOR_ETCD =
  /etcdserver: request is too large|trying to send message larger than max/;

// An update of an object that was deleted: of a Lease, and on API server v1.29 also of a custom resource.
// Precondition failed: UID in precondition: 0cf70e48-ddb0-4427-8575-c0c7d800d6ed, UID in object meta:
const DELETED = /Precondition failed: UID in precondition: \S+, UID in object meta: ?$/;

/** A list took too long; the token leads on from the same place, at a later version. */
export class ListExpiredError extends StoreError {
  readonly token: string;

  constructor(message: string, token: string) {
    super('Expired', message);
    this.token = token;
  }
}

/**
 * The error that an answer of the API server stands for. `status` is its body, a Status object unless
 * something between us and the server has answered.
 */
export function errorOfAnswer(
  what: string,
  code: number,
  status: unknown,
  retryAfter?: string,
): StoreError {
  const message = textAt(status, 'message') ?? `the server answered ${code}`;
  const seconds = retryAfter ?? numberAt(status, 'details', 'retryAfterSeconds');
  const waitMs = seconds === undefined ? Number.NaN : Number(seconds) * 1000;
  const retryAfterMs = waitMs > 0 ? Math.min(waitMs, RETRY_AFTER_MAX_MS) : undefined;
  const reason = reasonOf(code, status, message);
  const token = textAt(status, 'metadata', 'continue');
  if (reason === 'Expired' && token) return new ListExpiredError(`${what}: ${message}`, token);
  return new StoreError(reason, `${what}: ${message}`, retryAfterMs);
}

function reasonOf(code: number, status: unknown, message: string): StoreErrorReason {
  const isTooNew = listAt(status, 'details', 'causes')?.some(
    (cause) => textAt(cause, 'reason') === 'ResourceVersionTooLarge',
  );
  // The server's data is older than what we have read: it was restored from a backup.
  if (isTooNew) return 'Expired';
  if (DELETED.test(message)) return 'NotFound';
  if (TOO_LARGE_FOR_ETCD.test(message)) return 'RequestEntityTooLarge';
  // Without an object in its details the server means the kind: it is not installed, or not yet.
  if (code === 404 && textAt(status, 'details', 'name') === undefined) return 'ServiceUnavailable';
  const reason = REASONS[textAt(status, 'reason') ?? ''] ?? CODES[code];
  if (reason) return reason;
  return code >= 500 ? 'ServiceUnavailable' : 'BadRequest';
}

/** The error in a watch event of the type ERROR. */
export function errorOfEvent(what: string, event: unknown): StoreError {
  const status = fieldAt(event, 'object');
  return errorOfAnswer(what, numberAt(status, 'code') ?? 500, status);
}
