import { type IncomingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { type Backends, routes } from '../src/hosts/web/routes.ts';
import { startServer } from '../src/hosts/web/server.ts';
import { OpenWatches } from '../src/hosts/web/watch-resources.ts';
import { openMemoryStore, type SqliteStore } from '../src/pipeline/store/sqlite-store.ts';

export const TOKEN = 'a-token-of-a-test';
export const INTAKE_TOKEN = 'a-token-for-alerts';
export const BASE = '/apis/diagnosis.kubediag.org/v1';

export interface Answered {
  readonly code: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface SyntheticServer {
  readonly port: number;
  readonly store: SqliteStore;
  readonly defects: readonly unknown[];
  readonly close: () => Promise<void>;
  /** With the token, unless other headers are given. */
  readonly ask: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<Answered>;
  /** Bytes as they are; what comes back until the server hangs up. */
  readonly say: (bytes: string) => Promise<string>;
}

/** The HTTP API of an agent without its node: a store in memory, and a processor that returns its input. */
export async function syntheticServer(
  backends: Partial<Backends> = {},
  place: { readonly socketPath?: string } = {},
): Promise<SyntheticServer> {
  const store = openMemoryStore();
  const defects: unknown[] = [];
  const handler = routes({
    store,
    watches: new OpenWatches(),
    adviceOn: async () => [],
    checkHere: () => [],
    productVersion: 'test',
    metrics: async () => '',
    notReadyReason: async () => undefined,
    takeIn: async () => [],
    openStored: () => undefined,
    processorPaths: ['/processor/echo'],
    runProcessor: async (_, input, { isDryRun }) => {
      if (input.fail) {
        const failure = { succeeded: false, message: `because of ${input.fail}` } as const;
        return input.fail === 'nothing' ? { ...failure, cause: 'InputMissing' } : failure;
      }
      return { succeeded: true, results: { ...input, isDryRun: String(isDryRun) } };
    },
    ...backends,
  });
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    ...place,
    access: { token: TOKEN, intakeToken: INTAKE_TOKEN, ownNames: ['my-node'] },
    handler,
    onAnswer: () => {},
    onDefect: (error) => defects.push(error),
  });
  let closing: Promise<void> | undefined;
  const close = async () => {
    closing ??= server.close();
    await closing;
    store.close();
  };
  onTestFinished(close);
  const { port } = server;
  return {
    port,
    close,
    store,
    defects,
    ask: (method, path, body, headers = { authorization: `Bearer ${TOKEN}` }) =>
      asked(port, method, path, { body, headers }),
    say: async (bytes) => {
      const socket = connect(port, '127.0.0.1');
      socket.write(bytes);
      return text(socket);
    },
  };
}

function asked(
  port: number,
  method: string,
  path: string,
  { body, headers }: { body: unknown; headers: Readonly<Record<string, string>> },
): Promise<Answered> {
  const sent = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const type = sent === undefined ? {} : { 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const call = request(
      { host: '127.0.0.1', port, method, path, headers: { ...type, ...headers } },
      (response) => {
        const answered = text(response);
        answered.then(
          (all) =>
            resolve({ code: response.statusCode ?? 0, headers: response.headers, text: all }),
          reject,
        );
      },
    );
    call.on('error', reject);
    call.end(sent);
  });
}
