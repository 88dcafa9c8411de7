import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { fieldsIn, hasCode, secretIfThere, tried } from '../../../lib/state/state-folder.ts';
import type { Failure } from '../../../node/model/action.ts';
import { stateFolderOf } from '../command-line/options.ts';
import { ANSWER_BYTES_MAX, ANSWER_MS, TOKEN_BYTES_MAX } from '../limits.ts';

/** How the agent is found: the same options wherever a command talks to it. */
export interface AgentOptions {
  readonly server?: string;
  readonly tokenFile?: string;
  readonly stateDir?: string;
  readonly hostRoot: string;
}

export interface AgentAnswer {
  readonly code: number;
  readonly value: unknown;
  readonly warnings: readonly string[];
}

/** What the agent said; or that nobody answered as one, with what to do. */
export type Asked = AgentAnswer | { readonly trouble: Failure };

export interface AgentRequest {
  readonly body?: unknown;
  readonly type?: string;
  readonly accept?: string;
  /** How long it may be silent, where that is not as long as usual. */
  readonly limitMs?: number;
}

export interface AgentClient {
  readonly ask: (method: string, path: string, wish?: AgentRequest) => Promise<Asked>;
  /** Each line of an answer that does not end, until `stop`. */
  readonly follow: (
    path: string,
    onLine: (value: unknown) => void,
    wish: { readonly stop: AbortSignal; readonly accept?: string },
  ) => Promise<Asked>;
  /** The bytes of a file, when it is granted. */
  readonly download: (path: string, onPiece: (piece: Buffer) => void) => Promise<Asked>;
}

/** Where an agent listens. */
type Place =
  | { readonly socketPath: string }
  | { readonly host: string; readonly port: number | string };

/**
 * The agent of this node. It is talked to over a socket in its folder, where nobody else can put one:
 * whoever has taken the port of an agent that died is not shown the token.
 */
export async function agentClient(
  options: AgentOptions,
): Promise<AgentClient | { readonly trouble: Failure }> {
  const folder = stateFolderOf(options);
  const tokenFile = options.tokenFile ?? join(folder, 'token');
  const read = await tried((async () => secretIfThere(tokenFile, TOKEN_BYTES_MAX)?.trim())());
  const what = 'the agent of this node cannot be reached';
  if (!read.ok) {
    return { trouble: { what, why: read.why, todo: read.todo } };
  }
  if (read.value === undefined) {
    return { trouble: { what, why: `there is no token in ${tokenFile}`, todo: START_ONE } };
  }
  const { server } = options;
  const place = server === undefined ? { socketPath: join(folder, 'socket') } : placeIn(server);
  if (place) return clientOf(place, read.value);
  const why = `"${server}" is no address of one`;
  return { trouble: { what, why, todo: 'give it as http://127.0.0.1:8090' } };
}

const START_ONE = 'start one with `kubediag serve`, or name its folder with --state-dir';

/** The address of an agent, as `--server` takes it; undefined when it is none. */
export function placeIn(address: string): Place | undefined {
  const server = URL.parse(address);
  if (server?.protocol !== 'http:') return undefined;
  return { host: server.hostname.replace(/^\[|\]$/g, ''), port: server.port || 80 };
}

function clientOf(place: Place, token: string): AgentClient {
  const call = { place, token };
  return {
    ask: (method, path, wish = {}) => exchange({ ...call, method, path, ...wish }, wholeOf),
    follow: (path, onLine, { stop, accept }) =>
      exchange({ ...call, method: 'GET', path, stop, ...(accept ? { accept } : {}) }, (response) =>
        response.statusCode === 200 ? linesOf(response, onLine) : wholeOf(response),
      ),
    download: (path, onPiece) =>
      exchange({ ...call, method: 'GET', path }, (response) =>
        response.headers['content-type'] === 'application/octet-stream'
          ? bytesOf(response, onPiece)
          : wholeOf(response),
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
  trouble: {
    what: 'the answer of the agent is too large',
    why: `more than ${ANSWER_BYTES_MAX} bytes`,
    todo: 'ask for less: one namespace (-n), or one name',
  },
};

function exchange(call: Call, read: (response: IncomingMessage) => Promise<Read>): Promise<Asked> {
  const { place, token, method, path, body, type = 'application/json', accept, stop } = call;
  const limitMs = call.limitMs ?? ANSWER_MS;
  const { promise, resolve } = Promise.withResolvers<Asked>();
  const failed = (error: Error) => resolve({ trouble: unreachable(place, error) });
  const sent = request(
    {
      ...place,
      method,
      path,
      // A watch may be silent for as long as it likes.
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
        const reported = await read(response);
        return 'text' in reported ? answerOf(response, reported.text) : reported;
      };
      answered().then(resolve, failed);
    },
  );
  sent.on('error', failed);
  sent.on('upgrade', (_, socket) => {
    socket.destroy();
    failed(new Error('it wants to speak another protocol'));
  });
  sent.on('timeout', () => sent.destroy(new Error(`no answer within ${limitMs / 1_000} s`)));
  stop?.addEventListener('abort', () => sent.destroy(), { once: true });
  sent.end(body === undefined ? undefined : JSON.stringify(body));
  return promise;
}

function unreachable(place: Place, error: Error): Failure {
  const where = 'socketPath' in place ? place.socketPath : `${place.host}:${place.port}`;
  const why = error.message || ((error as NodeJS.ErrnoException).code ?? 'it hung up');
  const todo = hasCode(error, 'EACCES') ? 'run it as root (sudo)' : START_ONE;
  return { what: `no agent answers on ${where}`, why, todo };
}

function answerOf(response: IncomingMessage, text: string): Asked {
  if (!response.headers['content-type']?.startsWith('application/json')) {
    const what = 'whoever answers there is no agent of ours';
    const why = `it answered with code ${response.statusCode} and no JSON`;
    return { trouble: { what, why, todo: 'see to --server' } };
  }
  const value = fieldsIn(text);
  const { warning = '' } = response.headers;
  // 299 - "one", 299 - "two"
  const warnings = [...warning.matchAll(/299 - "([^"]*)"/g)].map(([, words = '']) => words);
  return { code: response.statusCode ?? 0, value, warnings };
}

async function wholeOf(response: IncomingMessage): Promise<Read> {
  const text = await textOf(response);
  return text === undefined ? TOO_LARGE : { text };
}

async function textOf(response: IncomingMessage): Promise<string | undefined> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > ANSWER_BYTES_MAX) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
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
