import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { pipeline } from 'node:stream/promises';
import { defined } from '../../lib/std/defined.ts';
import { messageOf } from '../../lib/std/message-of.ts';
import { ANSWER_BYTES_MAX } from './limits.ts';
import { ForbiddenAddressError, permittedLookup, refuseForbidden } from './permitted-address.ts';

export interface Asked {
  readonly url: URL;
  readonly method: 'POST' | 'GET';
  readonly body: string | RequestBody;
  readonly headers?: Readonly<Record<string, string>>;
  readonly trust?: ServerTrust;
  /** Ask at this socket of the machine; the URL then only says what. */
  readonly socketPath?: string;
  /** How large an answer may be, when it is none of ours. */
  readonly bytesMax?: number;
}

/** A body that is not in memory as a whole. Its pieces may be asked for again, for another attempt. */
export interface RequestBody {
  readonly bytes: number;
  readonly pieces: () => AsyncIterable<Uint8Array>;
}

/** Who has to vouch for a server, where TLS is spoken: those whom the system trusts, if unsaid. */
export interface ServerTrust {
  /** Certificates in PEM. */
  readonly authorities?: string;
  /** A person has said that anybody will do. */
  readonly isBlind?: true;
}

export interface ExchangeLimits {
  readonly timeoutMs: number;
  /** Fires when that time has passed: several exchanges may share it. */
  readonly late: AbortSignal;
  readonly stop: AbortSignal;
}

export function exchangeLimits(timeoutMs: number, stop: AbortSignal): ExchangeLimits {
  return { timeoutMs, late: AbortSignal.timeout(timeoutMs), stop };
}

/** What one exchange came to. Only what the network did is worth another attempt. */
export type Exchanged =
  | {
      readonly status: number;
      readonly location: string | undefined;
      /** In one piece, which takes as much memory again. */
      readonly body: () => Buffer;
    }
  | { readonly refused: string }
  | {
      readonly lost: string;
      /** The error code of the system: "ENOENT", "ECONNREFUSED". */
      readonly code?: string;
    };

/** One request on a connection of its own, and an answer of bounded size within its time. */
export async function runExchange(asked: Asked, limits: ExchangeLimits): Promise<Exchanged> {
  const { late, stop, timeoutMs } = limits;
  try {
    if (asked.socketPath === undefined) refuseForbidden(asked.url);
    return await answerOf(asked, [late, stop]);
  } catch (error) {
    if (error instanceof ForbiddenAddressError) return { refused: error.message };
    if (stop.aborted) return { lost: 'stopped' };
    if (late.aborted) return { lost: `no whole answer within ${timeoutMs} ms` };
    const { code } = error as NodeJS.ErrnoException;
    return { lost: messageOf(error), ...(typeof code === 'string' && { code }) };
  }
}

function answerOf(asked: Asked, signals: readonly AbortSignal[]): Promise<Exchanged> {
  const { url, method, body, trust = {}, socketPath, bytesMax = ANSWER_BYTES_MAX } = asked;
  const given = method === 'POST' ? body : '';
  const sent = typeof given === 'string' ? Buffer.from(given) : given;
  const headers = {
    Accept: 'application/json',
    ...(method === 'POST' ? { 'Content-Type': 'application/json' } : {}),
    'Content-Length': 'pieces' in sent ? sent.bytes : sent.length,
    ...asked.headers,
  };
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  const options = defined({
    method,
    headers,
    agent: false,
    lookup: permittedLookup,
    socketPath,
    ca: trust.authorities,
    rejectUnauthorized: trust.isBlind ? false : undefined,
  });
  const { promise, resolve, reject } = Promise.withResolvers<Exchanged>();
  const request = send(url, options, (response) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const { statusCode: status = 0 } = response;
    const { location } = response.headers;
    response.on('data', (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size <= bytesMax) return;
      resolve({ refused: `it answered with more than ${bytesMax} bytes` });
      request.destroy();
    });
    response.on('end', () => resolve({ status, location, body: () => Buffer.concat(chunks) }));
    response.on('error', reject);
  });
  // It wants to speak something else from now on, which nobody asked for: that is an answer too.
  request.on('upgrade', ({ statusCode: status = 0 }, socket) => {
    socket.destroy();
    resolve({ status, location: undefined, body: () => Buffer.alloc(0) });
  });
  request.on('error', reject);
  const end = () => {
    request.destroy();
    // By ourselves: a request that is gone already reports no error.
    reject(new Error('ended'));
  };
  for (const signal of signals) signal.addEventListener('abort', end);
  if (signals.some(({ aborted }) => aborted)) end();
  else if ('pieces' in sent) pipeline(sent.pieces(), request).catch(reject);
  else request.end(sent);
  // A signal may live as long as the time limit of the step, and would keep what was sent and received.
  return promise.finally(() => {
    // A server may answer before it has read everything, and then read no more.
    request.destroy();
    for (const signal of signals) signal.removeEventListener('abort', end);
  });
}
