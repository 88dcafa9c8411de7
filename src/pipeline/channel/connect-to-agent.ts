import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { createConnection, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../lib/std/message-of.ts';
import { Connection } from './connection.ts';
import type { ExecutorWork, FileChunk } from './executor.ts';
import { FrameError, type ReadFrame } from './frames.ts';
import { RECONNECT_MS, REQUEST_BYTES_MAX, REQUESTS_MAX, UNREAD_BYTES_MAX } from './limits.ts';
import type { Hello } from './messages.ts';
import type { NodeCheck } from './node-check.ts';
import { type ExecutorRequest, executorRequest, fromAgent } from './request-schema.ts';

/** Of Linux; Node has no name for it. */
const O_PATH = 0o10_000_000;

export interface ConnectOptions {
  readonly socketPath: string;
  readonly hello: () => Promise<Hello>;
  readonly work: ExecutorHandlers;
  /** Running requests are cancelled; what has begun to change the node is finished. */
  readonly stop: AbortSignal;
  /** Called when the agent is there and when it is gone, with the reason. */
  readonly onAgent?: (change: AgentChange) => void;
}

export type AgentChange =
  | { readonly state: 'connected' }
  | { readonly state: 'gone'; readonly why: string };

/** What an executor does for its agent. */
export interface ExecutorHandlers extends ExecutorWork {
  readonly readFile: (path: string, offset: number) => Promise<FileChunk | undefined>;
}

export interface AgentLink {
  /** Sends a standing check, and sends it again to an agent that has restarted. */
  readonly publish: (check: NodeCheck) => void;
  /** Resolves when `stop` has ended everything. */
  readonly ended: Promise<void>;
}

/** Connects to the agent of this node, again and again, and does what it requests. */
export function connectToAgent(options: ConnectOptions): AgentLink {
  const end = new ExecutorEnd(options);
  return { publish: (check) => end.publish(check), ended: end.run() };
}

class ExecutorEnd {
  readonly #options: ConnectOptions;
  /** Those of earlier connections too, until they have ended. */
  readonly #running = new Set<Promise<void>>();
  #runningBytes = 0;
  #publish: (() => void) | undefined;
  #lastCheck: NodeCheck | undefined;

  constructor(options: ConnectOptions) {
    this.#options = options;
  }

  publish(check: NodeCheck): void {
    this.#lastCheck = check;
    this.#publish?.();
  }

  async run(): Promise<void> {
    const { stop, onAgent } = this.#options;
    let waitMs: number = RECONNECT_MS.first;
    let lastWhy = '';
    while (!stop.aborted) {
      const socket = await this.#connect();
      if (typeof socket !== 'string') {
        const begun = performance.now();
        lastWhy = await this.#serve(socket);
        onAgent?.({ state: 'gone', why: lastWhy });
        if (performance.now() - begun > RECONNECT_MS.most) waitMs = RECONNECT_MS.first;
      } else if (socket !== lastWhy) {
        lastWhy = socket;
        onAgent?.({ state: 'gone', why: lastWhy });
      }
      // Ends early when it is stopped.
      await sleep(waitMs, undefined, { signal: stop }).catch(() => {});
      waitMs = Math.min(waitMs * 2, RECONNECT_MS.most);
    }
    await Promise.all(this.#running);
  }

  async #connect(): Promise<Socket | string> {
    const { socketPath } = this.#options;
    let file: FileHandle | undefined;
    try {
      // The agent can write to this directory: a link could lead to a socket of the node. What was
      // opened and checked is what we connect to, whatever has the name by then.
      file = await open(socketPath, O_PATH | constants.O_NOFOLLOW);
      if (!(await file.stat()).isSocket()) return `${socketPath} is not a socket`;
      const path = `/proc/self/fd/${file.fd}`;
      return await new Promise<Socket>((resolve, reject) => {
        const socket = createConnection(path, () => resolve(socket));
        socket.once('error', reject);
      });
    } catch (error) {
      return messageOf(error);
    } finally {
      await file?.close();
    }
  }

  /** Does what is requested until the connection ends, and says why it ended. */
  async #serve(socket: Socket): Promise<string> {
    const { stop, hello, onAgent } = this.#options;
    const { promise, resolve } = Promise.withResolvers<string>();
    const requests = new Map<number, AbortController>();
    let sentCheck: NodeCheck | undefined;
    const publish = () => {
      const check = this.#lastCheck;
      if (!check || check === sentCheck || connection.isFull) return;
      sentCheck = check;
      connection.send({ type: 'node-check', check });
    };
    const listener = {
      onMessage: (frame: ReadFrame) => this.#received(frame, requests, connection),
      onClose: resolve,
      onDrain: publish,
    };
    // An agent that does not read gets no more answers, and no checks: they would fill our memory.
    const connection: Connection = new Connection(socket, listener, UNREAD_BYTES_MAX);
    const onStop = () => connection.close('the executor is shutting down');
    stop.addEventListener('abort', onStop);
    connection.send(await hello());
    if (stop.aborted) onStop();
    onAgent?.({ state: 'connected' });
    this.#publish = publish;
    publish();
    const why = await promise;
    this.#publish = undefined;
    stop.removeEventListener('abort', onStop);
    for (const request of requests.values()) request.abort(new Error('the agent is gone'));
    return why;
  }

  #received(
    { message, bytes }: ReadFrame,
    requests: Map<number, AbortController>,
    connection: Connection,
  ): void {
    const read = fromAgent.safeParse(message);
    if (!read.success) connection.close('the agent sent a message that nobody knows');
    else if (read.data.type === 'ping') connection.send({ type: 'pong' });
    else if (read.data.type === 'cancel') {
      requests.get(read.data.id)?.abort(new Error('cancelled'));
    } else if (requests.has(read.data.id)) {
      connection.close(`the agent used the id ${read.data.id} twice`);
    } else if (this.#isBusy(bytes)) connection.send({ type: 'busy', id: read.data.id });
    else this.#begin({ ...read.data, bytes }, requests, connection);
  }

  #isBusy(bytes: number): boolean {
    const { size } = this.#running;
    return size >= REQUESTS_MAX || (size > 0 && this.#runningBytes + bytes > REQUEST_BYTES_MAX);
  }

  #begin(
    { id, request, bytes }: { readonly id: number; readonly request: unknown; bytes: number },
    requests: Map<number, AbortController>,
    connection: Connection,
  ): void {
    const stop = new AbortController();
    requests.set(id, stop);
    this.#runningBytes += bytes;
    const answered = this.#answer(request, stop.signal)
      .then((answer) => sendAnswer(connection, { ...answer, id }))
      .finally(() => {
        requests.delete(id);
        this.#runningBytes -= bytes;
        this.#running.delete(answered);
      });
    this.#running.add(answered);
  }

  async #answer(given: unknown, stop: AbortSignal): Promise<WithoutId> {
    const read = executorRequest.safeParse(given);
    if (!read.success) {
      const [issue] = read.error.issues;
      const why = `malformed request: ${issue?.path.join('.')}: ${issue?.message}`;
      return { type: 'refused', why };
    }
    try {
      return { type: 'result', value: (await this.#work(read.data, stop)) ?? null };
    } catch (error) {
      // A defect fails its own request only, because others run beside it.
      const why = `defect in kubediag, please report it: ${messageOf(error)}`;
      return { type: 'refused', why: stop.aborted ? 'stopped' : why };
    }
  }

  async #work(request: ExecutorRequest, stop: AbortSignal): Promise<unknown> {
    const { work } = this.#options;
    const { largeResults } = work;
    switch (request.kind) {
      case 'run-step': {
        const { kind: _, diagnosis, restMs = Number.POSITIVE_INFINITY, ...step } = request;
        // The graph is the business of the agent.
        const spec = { ...diagnosis.spec, operationSet: 'of-the-agent' };
        return work.runStep({ ...step, restMs, stop, diagnosis: { ...diagnosis, spec } });
      }
      case 'find-pod':
        return work.findPod(request.pod, request.restMs ?? Number.POSITIVE_INFINITY, stop);
      case 'earlier-actions':
        return work.earlierActionsFor(request.purpose);
      case 'settle-journal':
        return work.settleJournal();
      case 'store-result':
        return largeResults.store(request.uid, request.file, request.text);
      case 'remove-results':
        return largeResults.remove(request.uid);
      case 'retain-results':
        return largeResults.retain(new Set(request.uids));
      case 'read-file': {
        const read = await work.readFile(request.path, request.offset);
        if (!read) return undefined;
        return { bytes: read.bytes, base64: Buffer.from(read.chunk).toString('base64') };
      }
    }
  }
}

type WithoutId =
  | { readonly type: 'result'; readonly value: unknown }
  | { readonly type: 'refused'; readonly why: string };

function sendAnswer(connection: Connection, answer: WithoutId & { readonly id: number }): void {
  try {
    connection.send(answer);
  } catch (error) {
    if (!(error instanceof FrameError)) throw error;
    connection.send({ type: 'refused', id: answer.id, why: error.message });
  }
}
