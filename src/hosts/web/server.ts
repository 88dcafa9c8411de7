import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import {
  type AddressInfo,
  createServer as createSocketServer,
  type ListenOptions,
  type Socket,
  type Server as SocketServer,
} from 'node:net';
import type { Explanation } from '../../lib/std/explanation.ts';
import { messageOf } from '../../lib/std/message-of.ts';
import { StoreError } from '../../pipeline/store/store-error.ts';
import { type Handler, json, type WebAnswer, type WebRequest } from './answer.ts';
import { type Access, refusalAt } from './authorize.ts';
import { Connections, hangUp } from './connections.ts';
import {
  HEADER_BYTES_MAX,
  HEADERS_MS,
  IDLE_MS,
  PIECE_CHARACTERS,
  REQUEST_MS,
  UNREAD_MS,
} from './limits.ts';
import { readBody } from './read-body.ts';
import { StatusError, statusOf } from './status-error.ts';

export interface Serving {
  readonly host: string;
  readonly port: number;
  /** Listens there too, for processes that may enter its directory. */
  readonly socketPath?: string;
  /** Absent: anybody may use it. */
  readonly access?: Access;
  readonly handler: Handler;
  /** Called after each response, and for each defect. */
  readonly onAnswer: (code: number, tookMs: number) => void;
  readonly onDefect: (error: unknown) => void;
}

export interface RunningServer {
  readonly host: string;
  readonly port: number;
  /** Accepts no more requests, ends watches, and completes the others. */
  readonly close: () => Promise<void>;
}

/** Starts to listen. Errors are `Status` objects; a handler that throws fails its own request only. */
export async function startServer(serving: Serving): Promise<RunningServer> {
  const closing = new AbortController();
  const server = createServer({
    maxHeaderSize: HEADER_BYTES_MAX,
    headersTimeout: HEADERS_MS,
    requestTimeout: REQUEST_MS,
    keepAliveTimeout: IDLE_MS,
    connectionsCheckingInterval: 1_000,
    insecureHTTPParser: false,
  });
  // Separate limits: clients of the port cannot block the socket for this node.
  const [onPort, onSocket] = [new Connections(), new Connections()];
  server.on('request', (message, response) => {
    const { socket } = message;
    const connections = onSocket.has(socket) ? onSocket : onPort;
    if (connections.isRefused(socket)) return;
    const trust = () => connections.trust(socket);
    void answer(message, response, { ...serving, trust, closing: closing.signal });
  });
  server.on('clientError', rejectMalformed);
  server.on('connection', (socket) => {
    if (!onSocket.has(socket)) onPort.add(socket);
  });
  const local = createSocketServer((socket) => {
    onSocket.add(socket);
    if (!onSocket.isRefused(socket)) server.emit('connection', socket);
  });
  if (serving.socketPath !== undefined) await listen(local, { path: serving.socketPath });
  try {
    await listen(server, { host: serving.host, port: serving.port });
  } catch (error) {
    local.close();
    throw error;
  }
  const { address: host, port } = server.address() as AddressInfo;
  const close = () => closeBoth(server, local, closing);
  return { host, port, close };
}

async function listen(server: SocketServer, place: ListenOptions): Promise<void> {
  server.listen(place);
  await once(server, 'listening');
}

async function closeBoth(
  server: Server,
  local: SocketServer,
  closing: AbortController,
): Promise<void> {
  const servers = [server, local].filter(({ listening }) => listening);
  const ended = servers.map((each) => once(each, 'close'));
  for (const each of servers) each.close();
  closing.abort();
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), UNREAD_MS);
  await Promise.all(ended);
  clearTimeout(timer);
}

interface Answering extends Serving {
  readonly closing: AbortSignal;
  /** Called when the request has a valid token. */
  readonly trust: () => void;
}

async function answer(
  message: IncomingMessage,
  response: ServerResponse,
  answering: Answering,
): Promise<void> {
  const begun = performance.now();
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  response.on('error', () => gone.abort());
  const stop = AbortSignal.any([gone.signal, answering.closing]);
  const created = await answerTo(message, stop, answering);
  if (!message.complete) {
    // The rest of the request is dropped, and the client can still read the response.
    response.setHeader('Connection', 'close');
    message.resume();
  }
  // Node closes idle connections when the server closes, but not those that become idle later.
  response.on('finish', () => answering.closing.aborted && message.socket.destroySoon());
  await send(created, response, answering);
  answering.onAnswer(response.statusCode, performance.now() - begun);
}

async function answerTo(
  message: IncomingMessage,
  stop: AbortSignal,
  answering: Answering,
): Promise<WebAnswer> {
  try {
    const request = requestOf(message, stop);
    const isHealth = request.path.length === 1 && request.path[0] === 'healthz';
    const { access } = answering;
    const refusal = isHealth || !access ? undefined : refusalAt(access, request);
    if (refusal) throw refusal;
    if (!isHealth && access) answering.trust();
    return await answering.handler(request);
  } catch (error) {
    const status = statusErrorOf(error, answering);
    const headers = status.code === 401 ? { 'WWW-Authenticate': 'Bearer realm="kubediag"' } : {};
    return json(statusOf(status), status.code, headers);
  }
}

function requestOf(message: IncomingMessage, stop: AbortSignal): WebRequest {
  const { method = '', url = '', headers } = message;
  const [path = '', query = ''] = url.split(/\?(.*)/s);
  if (!path.startsWith('/'))
    throw new StatusError('BadRequest', 'the request target must be a path such as /apis');
  const pieces = path.split('/').filter(Boolean);
  return {
    method,
    path: pieces.map(decoded),
    query: new URLSearchParams(query),
    headers,
    body: () => readBody(message),
    stop,
  };
}

function decoded(piece: string): string {
  try {
    return decodeURIComponent(piece);
  } catch {
    throw new StatusError('BadRequest', `"${piece}" is not a valid path segment: write % as %25`);
  }
}

function statusErrorOf(error: unknown, { onDefect }: Answering): StatusError {
  if (error instanceof StatusError) return error;
  if (error instanceof StoreError) {
    const reason = error.reason === 'Damaged' ? 'InternalError' : error.reason;
    return new StatusError(reason, error.message);
  }
  // The client has gone while its body was read.
  const isGone = error instanceof Error && 'code' in error && error.code === 'ECONNRESET';
  if (!isGone) onDefect(error);
  const why = messageOf(error);
  return new StatusError('InternalError', `defect in kubediag, please report it: ${why}`);
}

async function send(
  { code, type, headers = {}, body, asLastPiece }: WebAnswer,
  response: ServerResponse,
  answering: Answering,
): Promise<void> {
  response.statusCode = code;
  response.setHeader('Content-Type', type);
  // No content sniffing, no caching, no embedding in other pages.
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'");
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (typeof body === 'string') {
    response.setHeader('Content-Length', Buffer.byteLength(body));
    response.end(body);
    return;
  }
  response.flushHeaders();
  try {
    for await (const piece of asLastPiece ? body : joined(body)) {
      if (response.destroyed) return;
      if (!response.write(piece)) await drained(response);
    }
  } catch (error) {
    const status = statusErrorOf(error, answering);
    // A response that broke off must not look complete.
    if (!asLastPiece) response.destroy();
    else response.write(asLastPiece(statusOf(status)));
  }
  response.end();
}

/** Joins small pieces, because each write costs a system call. */
async function* joined(
  pieces: Iterable<string> | AsyncIterable<string | Uint8Array>,
): AsyncGenerator<string | Uint8Array> {
  let text = '';
  for await (const piece of pieces) {
    // Bytes come from a file in large pieces already.
    if (typeof piece !== 'string') {
      yield piece;
      continue;
    }
    text += piece;
    if (text.length < PIECE_CHARACTERS) continue;
    yield text;
    text = '';
  }
  if (text !== '') yield text;
}

async function drained(response: ServerResponse): Promise<void> {
  if (response.destroyed) return;
  const timer = setTimeout(() => response.destroy(), UNREAD_MS);
  const { promise, resolve } = Promise.withResolvers<void>();
  const go = () => resolve();
  response.once('drain', go).once('close', go);
  await promise;
  clearTimeout(timer);
  response.off('drain', go).off('close', go);
}

const MALFORMED: Readonly<Record<string, readonly [string, string]>> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    `the headers have more than ${HEADER_BYTES_MAX} bytes, which is the limit`,
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [
    '408 Request Timeout',
    `the request took longer than ${REQUEST_MS / 1_000}s, or its headers longer than ${HEADERS_MS / 1_000}s: send it again`,
  ],
};

/** Answers bytes that are not a request. */
function rejectMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [line, message] = MALFORMED[error.code ?? ''] ?? [
    '400 Bad Request',
    `not a valid HTTP request: ${error.message}`,
  ];
  hangUp(socket, line, message);
}

/** Why a process cannot listen; undefined for other errors. */
export function listenFailure(who: string, error: unknown): Explanation | undefined {
  if (!(error instanceof Error)) return undefined;
  const { syscall } = error as NodeJS.ErrnoException;
  if (syscall !== 'listen' && syscall !== 'bind') return undefined;
  const todo = 'use another address or path, or stop the process that uses this one';
  return { what: `${who} cannot listen`, why: error.message, todo };
}

// http://10.244.1.7:8090, http://[fd00::7]:8090
export function urlOf({ host, port }: Pick<RunningServer, 'host' | 'port'>): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
