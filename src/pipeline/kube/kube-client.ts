import type { ClientRequest, IncomingMessage } from 'node:http';
import { Agent, request as requestHttps } from 'node:https';
import { fieldAt, jsonValue } from '../../lib/std/json.ts';
import { messageOf } from '../../lib/std/message-of.ts';
import { StoreError } from '../store/store-error.ts';
import type { KubeAccess, KubeCredentials } from './kube-access.ts';
import {
  ANSWER_BYTES_MAX,
  CONNECTIONS_MAX,
  ERROR_BYTES_MAX,
  EVENT_BYTES_MAX,
  IDLE_CONNECTIONS_MAX,
  REQUEST_MS,
  WATCH_GRACE_MS,
  WATCH_IDLE_MS,
  WATCH_SECONDS_MAX,
  WATCH_SECONDS_MIN,
} from './limits.ts';
import { linesOf } from './lines-of.ts';
import { errorOfAnswer, errorOfEvent } from './status-error.ts';

type Query = Readonly<Record<string, string | undefined>>;

export interface KubeRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** "/api/v1/nodes/web-3" */
  readonly path: string;
  readonly query?: Query | undefined;
  readonly body?: unknown;
  /** Of a patch: "application/apply-patch+yaml", "application/merge-patch+json". */
  readonly contentType?: string | undefined;
  readonly timeoutMs?: number | undefined;
  readonly stop?: AbortSignal | undefined;
}

/**
 * Requests to an API server. Every error is a StoreError with the server's reason. A lost connection and
 * a missing answer are `ServiceUnavailable`: a write may have happened then.
 */
export interface KubeClient {
  /** The body of the answer. */
  readonly request: (request: KubeRequest) => Promise<unknown>;
  /**
   * The events of one watch, without those of the type ERROR, which are thrown. It ends when the server
   * ends it, and when the connection is cut or silent: go on from the last version then.
   */
  readonly watch: (path: string, query: Query, stop: AbortSignal) => AsyncIterable<unknown>;
  /** Closes all connections. */
  readonly close: () => void;
}

export interface KubeClientOptions {
  /** Of this program, for the audit log of the server. */
  readonly version?: string;
  /** Time limit for an answer, and for the begin of a watch. */
  readonly requestMs?: number;
  /** How long a watch lasts, and how long it may be silent. */
  readonly watchSeconds?: { readonly min: number; readonly max: number };
  readonly watchGraceMs?: number;
  readonly watchIdleMs?: number;
}

/** A client with one pool of connections for requests and watches. */
export function openKubeClient(access: KubeAccess, options: KubeClientOptions = {}): KubeClient {
  const connections = new Connections(access, options.version);
  return {
    request: (request) => requestOver(connections, request, options),
    watch: (path, query, stop) => watchOver(connections, path, query, stop, options),
    close: () => connections.close(),
  };
}

// Go's names of processor types: "linux/amd64".
const PROCESSORS: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

class Connections {
  readonly #access: KubeAccess;
  readonly #userAgent: string;
  #agent: Agent | undefined;
  #trust = '';

  constructor(access: KubeAccess, version: string | undefined) {
    this.#access = access;
    const processor = PROCESSORS[process.arch] ?? process.arch;
    const name = version === undefined ? 'kubediag' : `kubediag/${version}`;
    this.#userAgent = `${name} (${process.platform}/${processor})`;
  }

  /** Sends a request; the answer comes later. */
  async send(request: KubeRequest, isRejected: boolean): Promise<ClientRequest> {
    const { method, path, query = {}, body, contentType = 'application/json' } = request;
    const credentials = await this.#access.credentials(isRejected);
    // https://rancher.example.com/k8s/clusters/c-1: a server may have a path of its own.
    const url = new URL(`${this.#access.server.replace(/\/+$/, '')}${path}`);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, value);
    }
    const sent = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const headers = {
      Accept: 'application/json',
      'User-Agent': this.#userAgent,
      ...(credentials.token === undefined ? {} : { Authorization: `Bearer ${credentials.token}` }),
      ...(sent ? { 'Content-Type': contentType, 'Content-Length': sent.length } : {}),
    };
    const call = requestHttps(url, { method, headers, agent: this.#agentFor(credentials) });
    call.end(sent);
    return call;
  }

  /** Connections that nobody uses. One that answers no more would be taken again otherwise. */
  closeIdle(): void {
    for (const sockets of Object.values(this.#agent?.freeSockets ?? {})) {
      for (const socket of sockets ?? []) socket.destroy();
    }
  }

  close(): void {
    this.#agent?.destroy();
    this.#agent = undefined;
  }

  /** New certificates need new connections; the watches on old ones go on until they end. */
  #agentFor({ ca, cert, key }: KubeCredentials): Agent {
    const trust = JSON.stringify([ca, cert, key]);
    if (this.#agent && trust === this.#trust) return this.#agent;
    this.closeIdle();
    this.#trust = trust;
    this.#agent = new Agent({
      keepAlive: true,
      maxSockets: CONNECTIONS_MAX,
      maxFreeSockets: IDLE_CONNECTIONS_MAX,
      ca,
      cert,
      key,
    });
    return this.#agent;
  }
}

async function requestOver(
  connections: Connections,
  request: KubeRequest,
  { requestMs = REQUEST_MS }: KubeClientOptions,
): Promise<unknown> {
  const { timeoutMs = requestMs, stop } = request;
  const what = `${request.method} ${request.path}`;
  const exchange = new Exchange(connections, request, stop);
  const timer = setTimeout(() => exchange.endLate(timeoutMs), timeoutMs);
  try {
    const response = await exchange.answered();
    if (!isGood(response)) throw await rejection(what, response);
    const bytes = await bytesOf(response, ANSWER_BYTES_MAX);
    if (!bytes) {
      const message = `${what}: the answer has more than ${ANSWER_BYTES_MAX} bytes`;
      throw new StoreError('RequestEntityTooLarge', message);
    }
    const body = jsonValue(bytes.toString());
    if (!body) throw new StoreError('ServiceUnavailable', `${what}: malformed answer`);
    return body.value;
  } catch (error) {
    throw exchange.errorOf(error);
  } finally {
    clearTimeout(timer);
    exchange.leave();
  }
}

async function* watchOver(
  connections: Connections,
  path: string,
  query: Query,
  stop: AbortSignal,
  {
    requestMs = REQUEST_MS,
    watchSeconds: { min, max } = { min: WATCH_SECONDS_MIN, max: WATCH_SECONDS_MAX },
    watchGraceMs = WATCH_GRACE_MS,
    watchIdleMs = WATCH_IDLE_MS,
  }: KubeClientOptions,
): AsyncGenerator<unknown> {
  const seconds = Math.ceil(min + Math.random() * (max - min));
  const timeoutSeconds = String(seconds);
  const watching = { watch: '1', allowWatchBookmarks: 'true', timeoutSeconds, ...query };
  const exchange = new Exchange(connections, { method: 'GET', path, query: watching }, stop);
  const timer = setTimeout(
    () => exchange.end('the server ends no watch'),
    seconds * 1000 + watchGraceMs,
  );
  // The server answers at once and sends the events later.
  const beginTimer = setTimeout(() => exchange.endLate(requestMs), requestMs);
  const what = `watch ${path}`;
  let response: IncomingMessage | undefined;
  try {
    response = await exchange.answered(watchIdleMs);
    clearTimeout(beginTimer);
    if (!isGood(response)) throw await rejection(what, response);
    for await (const line of linesOf(response, EVENT_BYTES_MAX)) {
      const event = jsonValue(line)?.value;
      // Something between us and the server has garbled it.
      if (event === undefined) return;
      if (fieldAt(event, 'type') === 'ERROR') throw errorOfEvent(what, event);
      yield event;
    }
  } catch (error) {
    const isCut = response && isGood(response) && !(error instanceof StoreError);
    if (!stop.aborted && !isCut) throw exchange.errorOf(error);
  } finally {
    clearTimeout(timer);
    clearTimeout(beginTimer);
    exchange.leave();
    exchange.end('the watch has ended');
  }
}

/** One request and its answer, which can be ended at any time. */
class Exchange {
  readonly #connections: Connections;
  readonly #request: KubeRequest;
  readonly #stop: AbortSignal | undefined;
  readonly #onStop = () => this.end('stopped');
  #call: ClientRequest | undefined;
  #why: string | undefined;

  constructor(connections: Connections, request: KubeRequest, stop: AbortSignal | undefined) {
    this.#connections = connections;
    this.#request = request;
    this.#stop = stop;
    stop?.addEventListener('abort', this.#onStop, { once: true });
    if (stop?.aborted) this.#onStop();
  }

  /** The head of the answer. */
  async answered(idleMs?: number): Promise<IncomingMessage> {
    const first = await this.#attempt(false, idleMs);
    if (first.statusCode !== 401) return first;
    // The token may have been renewed since it was read.
    await bytesOf(first, ERROR_BYTES_MAX);
    return this.#attempt(true, idleMs);
  }

  /** Ends it at once, with the reason for `errorOf`. */
  end(why: string): void {
    this.#why ??= why;
    this.#call?.destroy();
  }

  /** The connections that nobody uses may be dead as well. */
  endLate(limitMs: number): void {
    this.end(`no answer within ${limitMs / 1000} s`);
    this.#connections.closeIdle();
  }

  leave(): void {
    this.#stop?.removeEventListener('abort', this.#onStop);
  }

  errorOf(error: unknown): StoreError {
    if (error instanceof StoreError) return error;
    const { method, path } = this.#request;
    const why = this.#why ?? messageOf(error);
    return new StoreError('ServiceUnavailable', `${method} ${path}: ${why}`);
  }

  async #attempt(isRejected: boolean, idleMs?: number): Promise<IncomingMessage> {
    for (;;) {
      const call = await this.#connections.send(this.#request, isRejected);
      this.#call = call;
      if (this.#why !== undefined) call.destroy();
      if (idleMs !== undefined) call.setTimeout(idleMs, () => this.end('no data'));
      const answer = await answerOf(call);
      if (!('lost' in answer)) return answer;
      // The server may close a connection at the moment when we use it again.
      const isAgain = call.reusedSocket && this.#request.method === 'GET';
      if (!isAgain || this.#why !== undefined) throw answer.lost;
    }
  }
}

function answerOf(call: ClientRequest): Promise<IncomingMessage | { readonly lost: Error }> {
  const { promise, resolve } = Promise.withResolvers<IncomingMessage | { readonly lost: Error }>();
  call.on('response', resolve);
  call.on('error', (lost) => resolve({ lost }));
  call.on('close', () => resolve({ lost: new Error('the connection was closed') }));
  return promise;
}

/** Undefined if there are too many. */
async function bytesOf(response: IncomingMessage, bytesMax: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > bytesMax) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function isGood({ statusCode = 0 }: IncomingMessage): boolean {
  return statusCode >= 200 && statusCode < 300;
}

async function rejection(what: string, response: IncomingMessage): Promise<StoreError> {
  const { statusCode = 0, headers } = response;
  const text = (await bytesOf(response, ERROR_BYTES_MAX))?.toString() ?? '';
  return errorOfAnswer(what, statusCode, jsonValue(text)?.value, headers['retry-after']);
}
