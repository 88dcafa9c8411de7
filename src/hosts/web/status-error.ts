/** The reasons of the Kubernetes API and their codes, which its clients know. */
const CODES = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  AlreadyExists: 409,
  Conflict: 409,
  Expired: 410,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  Invalid: 422,
  TooManyRequests: 429,
  InternalError: 500,
  ServiceUnavailable: 503,
} as const;

type Reason = keyof typeof CODES;

interface Details {
  readonly kind?: string;
  readonly name?: string;
  readonly causes?: readonly { readonly field: string; readonly message: string }[];
}

/** A failed request. The message says why and what to do. */
export class StatusError extends Error {
  override readonly name = 'StatusError';
  readonly reason: Reason;
  readonly code: number;
  readonly details: Details | undefined;

  constructor(reason: Reason, message: string, details?: Details) {
    super(message);
    this.reason = reason;
    this.code = CODES[reason];
    this.details = details;
  }
}

/** The Kubernetes object for a failure. */
export function statusOf({ reason, code, message, details }: StatusError): object {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason,
    ...(details ? { details } : {}),
    code,
  };
}
