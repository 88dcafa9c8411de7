import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { fieldsIn, hasCode, secretIfThere, tried } from '../../../lib/state/state-folder.ts';
import type { Explanation } from '../../../lib/std/explanation.ts';
import { stateFolderOf } from '../command-line/options.ts';
import type { AgentOptions } from '../command-line/shared-options.ts';
import { ANSWER_BYTES_MAX, ANSWER_MS, TOKEN_BYTES_MAX } from '../limits.ts';

export interface AgentAnswer {
  readonly code: number;
  readonly value: unknown;
  readonly warnings: readonly string[];
}

/** The agent's response, or why there is none. */
export type Asked = AgentAnswer | { readonly failure: Explanation };

export interface AgentRequest {
  readonly body?: unknown;
  readonly type?: string;
  readonly accept?: string;
  /** In place of the usual timeout. */
  readonly limitMs?: number;
}

export interface AgentClient {
  readonly ask: (method: string, path: string, options?: AgentRequest) => Promise<Asked>;
  /** Passes on each line of a response that does not end, until `stop`. */
  readonly follow: (
    path: string,
    onLine: (value: unknown) => void,
    options: { readonly stop: AbortSignal; readonly accept?: string },
  ) => Promise<Asked>;
  /** Passes on the bytes of a file. */
  readonly download: (path: string, onPiece: (piece: Buffer) => void) => Promise<Asked>;
}

/** The address of an agent. */
type Place =
  | { readonly socketPath: string }
  | { readonly host: string; readonly port: number | string };

/**
 * The agent of this node, by default over the socket in its state directory. Only root can create a
 * socket there, so no process that took over the port of a dead agent gets to see the token.
 */
export async function agentClient(
  options: Omit<AgentOptions, 'namespace'>,
): Promise<AgentClient | { readonly failure: Explanation }> {
  const folder = stateFolderOf(options);
  const tokenFile = options.tokenFile ?? join(folder, 'token');
  const read = await tried((async () => secretIfThere(tokenFile, TOKEN_BYTES_MAX)?.trim())());
  const what = 'cannot reach the agent of this node';
  if (!read.ok) return { failure: { what, why: read.why, todo: read.todo } };
  if (read.value === undefined) {
    return { failure: { what, why: `${tokenFile}: no such file`, todo: START_ONE } };
  }
  const { server } = options;
  const place = server === undefined ? { socketPath: join(folder, 'socket') } : placeIn(server);
  if (place) return clientOf(place, read.value);
  const why = `"${server}": not an address`;
  return { failure: { what, why, todo: 'use an address such as http://127.0.0.1:8090' } };
}

const START_ONE = 'start one with `kubediag serve`, or set its state directory with --state-dir';

/** Parses the value of `--server`; undefined if it is not an HTTP address. */
export function placeIn(address: string): Place | undefined {
  const server = URL.parse(address);
  if (server?.protocol !== 'http:') return undefined;
  return { host: server.hostname.replace(/^\[|\]$/g, ''), port: server.port || 80 };
}

function clientOf(place: Place, token: string): AgentClient {
  const call = { place, token };
  return {
    ask: (method, path, options = {}) => exchange({ ...call, method, path, ...options }, bodyOf),
    follow: (path, onLine, { stop, accept }) =>
      exchange({ ...call, method: 'GET', path, stop, ...(accept ? { accept } : {}) }, (response) =>
        response.statusCode === 200 ? linesOf(response, onLine) : bodyOf(response),
      ),
    download: (path, onPiece) =>
      exchange({ ...call, method: 'GET', path }, (response) =>
        response.headers['content-type'] === 'application/octet-stream'
          ? bytesOf(response, onPiece)
          : bodyOf(response),
      ),
  };
}

interface Call extends AgentRequest {
  readonly place: Place;
  readonly token: string;
  readonly method: string;
  readonly path: string;
  readonly stop?: AbortSignal;
}

type Read = { readonly text: string } | Asked;

const TOO_LARGE = {
  failure: {
    what: 'the response of the agent is too large',
    why: `more than ${ANSWER_BYTES_MAX} bytes`,
    todo: 'ask for fewer objects: one namespace (-n), or one name',
  },
};

function exchange(call: Call, read: (response: IncomingMessage) => Promise<Read>): Promise<Asked> {
  const { place, token, method, path, body, type = 'application/json', accept, stop } = call;
  const limitMs = call.limitMs ?? ANSWER_MS;
  const { promise, resolve } = Promise.withResolvers<Asked>();
  const failed = (error: Error) => resolve({ failure: unreachable(place, error) });
  const sent = request(
    {
      ...place,
      method,
      path,
      // A watch has no timeout: nothing may happen for hours.
      ...(stop ? {} : { timeout: limitMs }),
      headers: {
        Authorization: `Bearer ${token}`,
        Accept: accept ?? 'application/json',
        ...(body === undefined ? {} : { 'Content-Type': type }),
      },
    },
    (response) => {
      response.on('error', failed);
      const answered = async (): Promise<Asked> => {
        const received = await read(response);
        return 'text' in received ? answerOf(response, received.text) : received;
      };
      answered().then(resolve, failed);
    },
  );
  sent.on('error', failed);
  sent.on('upgrade', (_, socket) => {
    socket.destroy();
    failed(new Error('it switched to another protocol'));
  });
  sent.on('timeout', () => sent.destroy(new Error(`no response within ${limitMs / 1_000}s`)));
  stop?.addEventListener('abort', () => sent.destroy(), { once: true });
  sent.end(body === undefined ? undefined : JSON.stringify(body));
  return promise;
}

function unreachable(place: Place, error: Error): Explanation {
  const where = 'socketPath' in place ? place.socketPath : `${place.host}:${place.port}`;
  const why = error.message || ((error as NodeJS.ErrnoException).code ?? 'connection closed');
  const todo = hasCode(error, 'EACCES') ? 'run it as root (sudo)' : START_ONE;
  return { what: `no agent listens on ${where}`, why, todo };
}

function answerOf(response: IncomingMessage, text: string): Asked {
  if (!response.headers['content-type']?.startsWith('application/json')) {
    const what = 'the server is not a kubediag agent';
    const why = `it returned status ${response.statusCode} and no JSON`;
    return { failure: { what, why, todo: 'check the address in --server' } };
  }
  const value = fieldsIn(text);
  const { warning = '' } = response.headers;
  // 299 - "one", 299 - "two"
  const warnings = [...warning.matchAll(/299 - "([^"]*)"/g)].map(([, warned = '']) => warned);
  return { code: response.statusCode ?? 0, value, warnings };
}

async function bodyOf(response: IncomingMessage): Promise<Read> {
  const pieces: Buffer[] = [];
  const read = await bytesOf(response, (piece) => pieces.push(piece));
  return 'failure' in read ? read : { text: Buffer.concat(pieces).toString('utf8') };
}

async function bytesOf(
  response: IncomingMessage,
  onPiece: (piece: Buffer) => void,
): Promise<Asked> {
  let bytes = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > ANSWER_BYTES_MAX) return TOO_LARGE;
    onPiece(piece);
  }
  return { code: response.statusCode ?? 0, value: {}, warnings: [] };
}

async function linesOf(
  response: IncomingMessage,
  onLine: (value: unknown) => void,
): Promise<{ readonly text: string }> {
  let rest = '';
  response.setEncoding('utf8');
  for await (const piece of response as AsyncIterable<string>) {
    const lines = `${rest}${piece}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') onLine(fieldsIn(line));
  }
  return { text: '' };
}
