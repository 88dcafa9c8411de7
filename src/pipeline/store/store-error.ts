/** The reasons of the Kubernetes API, and `Damaged`: the stored bytes of this object are unreadable. */
export type StoreErrorReason =
  | 'AlreadyExists'
  | 'NotFound'
  | 'Conflict'
  | 'Expired'
  | 'BadRequest'
  | 'Invalid'
  | 'Forbidden'
  | 'Unauthorized'
  | 'RequestEntityTooLarge'
  | 'TooManyRequests'
  | 'ServiceUnavailable'
  | 'Damaged';

export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly reason: StoreErrorReason;
  /** When the store asks to wait before the next attempt. */
  readonly retryAfterMs: number | undefined;

  constructor(reason: StoreErrorReason, message: string, retryAfterMs?: number) {
    super(message);
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The same request may succeed later. A rejected token is replaced by the kubelet some time. */
export function isTemporary({ reason }: StoreError): boolean {
  return ['ServiceUnavailable', 'TooManyRequests', 'Unauthorized'].includes(reason);
}

// pods is forbidden: User "system:serviceaccount:kubediag:kubediag-agent" cannot list resource "pods" in ...
const LACKS_RIGHT = /\bUser "[^"]*" cannot \w+ resource /;

/**
 * An API server that has just started refuses this for some seconds to those who may do it, because it has
 * not read its roles yet. Quotas and admission policies word their refusals differently.
 */
export function lacksRight({ reason, message }: StoreError): boolean {
  return reason === 'Forbidden' && LACKS_RIGHT.test(message);
}
