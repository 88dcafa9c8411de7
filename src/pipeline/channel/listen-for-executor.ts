import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import type { BuiltIns } from '../steps/built-ins.ts';
import { Connection } from './connection.ts';
import type { Executor } from './executor.ts';
import { HELLO_MS, PING_MS, SILENT_MS } from './limits.ts';
import { type FromExecutor, type Hello, PROTOCOL } from './messages.ts';
import { type NodeCheck, nodeCheck } from './node-check.ts';
import { OpenRequests } from './open-requests.ts';
import { remoteExecutor } from './remote-executor.ts';

export interface ListenOptions {
  readonly socketPath: string;
  /** For messages. */
  readonly nodeName: string;
  /** Called with each standing check, and with the last one again after a reconnection. */
  readonly onNodeCheck?: (check: NodeCheck) => void;
  /** Called when an executor is there, with its version, and when it is gone, with the reason. */
  readonly onExecutor?: (change: ExecutorChange) => void;
}

export type ExecutorChange =
  | { readonly state: 'connected'; readonly version: string }
  | { readonly state: 'gone'; readonly why: string };

export interface ListeningExecutor extends Executor {
  readonly isConnected: () => boolean;
  /** Closes the socket. Requests that are still open end as if the executor had not come back. */
  readonly close: () => Promise<void>;
}

/** Listens on a Unix socket for the executor of this node. Throws if that is not possible. */
export async function listenForExecutor(options: ListenOptions): Promise<ListeningExecutor> {
  const end = new AgentEnd(options);
  await end.listen();
  return {
    ...remoteExecutor(end.requests, {
      builtIns: () => end.builtIns,
      repairs: () => end.repairs,
    }),
    isConnected: () => end.isConnected,
    close: () => end.close(),
  };
}

class AgentEnd {
  readonly requests: OpenRequests;
  readonly #options: ListenOptions;
  readonly #server: Server;
  readonly #first = Promise.withResolvers<KnownExecutor>();
  #known: KnownExecutor | undefined;
  #connection: Connection | undefined;
  #hasIntroduced = false;

  constructor(options: ListenOptions) {
    this.#options = options;
    this.requests = new OpenRequests(options.nodeName);
    this.#server = createServer((socket) => this.#connected(socket));
  }

  get isConnected(): boolean {
    return this.#hasIntroduced;
  }

  /** Those of the last executor; waits for the first. */
  get builtIns(): Promise<BuiltIns> {
    return this.#introduction().then(({ builtIns }) => builtIns);
  }

  get repairs(): Promise<ReadonlyMap<string, string>> {
    return this.#introduction().then(({ repairs }) => repairs);
  }

  #introduction(): Promise<KnownExecutor> {
    return this.#known ? Promise.resolve(this.#known) : this.#first.promise;
  }

  async listen(): Promise<void> {
    const { socketPath } = this.#options;
    // An agent that was killed has left it.
    rmSync(socketPath, { force: true });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#server.once('error', reject);
    this.#server.listen(socketPath, resolve);
    await promise;
    // The executor is root without the right to ignore modes. The group of the pod's volumes lets it connect.
    chmodSync(socketPath, 0o660);
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#connection?.close('the agent is shutting down');
    await closed;
  }

  #connected(socket: Socket): void {
    // One executor at a time. Another tries again, and may be the only one by then.
    if (this.#connection) {
      socket.destroy();
      return;
    }
    let lastMessage = performance.now();
    const hello = setTimeout(() => connection.close('it did not introduce itself'), HELLO_MS);
    const pings = setInterval(() => {
      if (this.requests.sent === 0) lastMessage = performance.now();
      else if (performance.now() - lastMessage > SILENT_MS) connection.close('it is silent');
      else connection.send({ type: 'ping' });
    }, PING_MS);
    const connection = new Connection(socket, {
      onMessage: ({ message }) => {
        lastMessage = performance.now();
        clearTimeout(hello);
        const known = message as FromExecutor | null;
        if (typeof known !== 'object' || !known) connection.close(UNKNOWN);
        else if (this.#hasIntroduced) this.#received(connection, known);
        else this.#introduced(connection, known);
      },
      onClose: (why) => {
        clearTimeout(hello);
        clearInterval(pings);
        this.#connection = undefined;
        const wasThere = this.#hasIntroduced;
        this.#hasIntroduced = false;
        this.requests.disconnected(why);
        if (wasThere) this.#options.onExecutor?.({ state: 'gone', why });
      },
    });
    this.#connection = connection;
  }

  #received(connection: Connection, message: FromExecutor): void {
    const { type } = message;
    if (type === 'node-check') this.#checked(connection, message.check);
    else if (type === 'result' || type === 'refused' || type === 'busy') {
      this.requests.received(message);
    } else if (type !== 'pong') connection.close(UNKNOWN);
  }

  #checked(connection: Connection, check: unknown): void {
    const read = nodeCheck.safeParse(check);
    if (read.success) this.#options.onNodeCheck?.(read.data);
    else connection.close(UNKNOWN);
  }

  #introduced(connection: Connection, message: FromExecutor): void {
    const known = knownFrom(message);
    if (typeof known === 'string') {
      this.#options.onExecutor?.({ state: 'gone', why: known });
      connection.close(known);
      return;
    }
    this.#known = known;
    this.#first.resolve(known);
    this.#hasIntroduced = true;
    this.#options.onExecutor?.({ state: 'connected', version: (message as Hello).version });
    this.requests.connected((frame) => connection.sendFrame(frame));
  }
}

interface KnownExecutor {
  readonly builtIns: BuiltIns;
  readonly repairs: ReadonlyMap<string, string>;
}

/** What an executor can do, or why it is not used. */
function knownFrom(message: FromExecutor): KnownExecutor | string {
  if (message.type !== 'hello') return 'it did not introduce itself first';
  if (message.protocol !== PROTOCOL) {
    const versions = `${message.protocol}, and this agent protocol ${PROTOCOL}`;
    return `the executor speaks protocol ${versions}: use the same image in both containers`;
  }
  const { operations, operationSets } = message.builtIns ?? {};
  const { repairs } = message;
  if (![operations, operationSets, repairs].every(arePairs)) return 'malformed hello';
  return {
    builtIns: { operations: new Map(operations), operationSets: new Map(operationSets) },
    repairs: new Map(repairs),
  };
}

const UNKNOWN = 'it sent a message that nobody knows';

function arePairs(value: unknown): boolean {
  return Array.isArray(value) && value.every((pair) => Array.isArray(pair));
}
