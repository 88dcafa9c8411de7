import { type ServiceError, status } from '@grpc/grpc-js';

export type RuntimeFailure =
  | 'missing' // no socket at that path, or no such container
  | 'denied'
  | 'refused' // the socket exists, but no process listens
  | 'timeout' // a process listens, but does not answer
  | 'unsupported' // it speaks gRPC, but does not implement this call
  | 'malformed' // it answers, but not in gRPC, or not in CRI
  | 'too-large'
  | 'failed'; // any other error, in the runtime's own words

/** A call to the runtime that was not answered. */
export class RuntimeCallError extends Error {
  override readonly name = 'RuntimeCallError';
  readonly failure: RuntimeFailure;
  /** The error message of the runtime if there is one, otherwise ours. */
  readonly detail: string;

  constructor(failure: RuntimeFailure, source: string, detail: string, options?: ErrorOptions) {
    super(`${source}: ${detail}`, options);
    this.failure = failure;
    this.detail = detail;
  }
}

export function asRuntimeCallError(
  error: ServiceError,
  call: { readonly source: string; readonly socket: string; readonly limitMs: number },
): RuntimeCallError {
  const { failure, detail } = classOf(error, call);
  return new RuntimeCallError(failure, call.source, detail, { cause: error });
}

interface Class {
  readonly failure: RuntimeFailure;
  readonly detail: string;
}

const FAILURES: Partial<Record<status, RuntimeFailure>> = {
  [status.NOT_FOUND]: 'missing',
  [status.PERMISSION_DENIED]: 'denied',
  [status.UNAUTHENTICATED]: 'denied',
  [status.UNIMPLEMENTED]: 'unsupported',
  [status.DATA_LOSS]: 'malformed',
};

function classOf(error: ServiceError, call: { socket: string; limitMs: number }): Class {
  const { code, details } = error;
  const failure = FAILURES[code];
  if (failure) return { failure, detail: details };
  switch (code) {
    case status.DEADLINE_EXCEEDED: {
      const detail = `no answer from ${call.socket} within ${call.limitMs} ms`;
      return { failure: 'timeout', detail };
    }
    case status.RESOURCE_EXHAUSTED:
      // Received message larger than max (67108870 vs 67108864)
      // grpc: trying to send message larger than max (20971525 vs. 16777216)
      return { failure: /larger than max/.test(details) ? 'too-large' : 'failed', detail: details };
    case status.UNAVAILABLE:
      return unavailable(details, call.socket);
    default:
      return { failure: 'failed', detail: details || status[code] };
  }
}

/** gRPC has one code for all connection failures; only the text has the cause. */
function unavailable(details: string, socket: string): Class {
  // No connection established. Last error: Error: connect ENOENT /run/x.sock. Resolution note:
  const errno = /\bconnect (E[A-Z]+)\b/.exec(details)?.[1];
  if (errno !== undefined) return connectFailure(errno, socket);
  // No connection established. Last error: Protocol error (2026-01-02T03:04:05.678Z). Resolution...
  if (/Last error: Protocol error/.test(details)) {
    return { failure: 'malformed', detail: `what answers at ${socket} does not speak gRPC` };
  }
  // No connection established. Last error: Failed to connect (2026-01-02T03:04:05.678Z). Resol...
  // No connection established. Last error: Error: write EPIPE. Resolution note:
  // Connection dropped
  if (/Last error: Failed to connect|\b(?:EPIPE|ECONNRESET)\b|Connection dropped/.test(details)) {
    return { failure: 'failed', detail: `${socket} closed the connection before answering` };
  }
  return { failure: 'failed', detail: details };
}

function connectFailure(errno: string, socket: string): Class {
  switch (errno) {
    case 'ENOENT':
    case 'ENOTDIR':
      return { failure: 'missing', detail: `there is no socket ${socket}` };
    case 'EACCES':
    case 'EPERM':
      return { failure: 'denied', detail: `not permitted to connect to ${socket}` };
    case 'ECONNREFUSED':
      return { failure: 'refused', detail: `nothing listens at ${socket}` };
    case 'EAGAIN':
      // The backlog is full: the runtime is stopped, and other clients wait already.
      return { failure: 'timeout', detail: `${socket} accepts no more connections` };
    default:
      return { failure: 'failed', detail: `cannot connect to ${socket}: ${errno}` };
  }
}
