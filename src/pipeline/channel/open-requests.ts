import { FrameError, frameOf } from './frames.ts';
import { BUSY_AGAIN_MS, REQUEST_BYTES_MAX, REQUESTS_MAX, SENDS_MAX } from './limits.ts';
import type { FromAgent, FromExecutor } from './messages.ts';
import type { ExecutorRequest } from './request-schema.ts';

/** What a request came to. */
export type Answer =
  | { readonly value: unknown }
  /** The executor declined it. */
  | { readonly refused: string }
  /** No executor answered in time. */
  | { readonly absent: string }
  | { readonly stopped: true };

export interface AskOptions {
  readonly stop?: AbortSignal | undefined;
  /** How long all waits for an executor that is not connected may take together. */
  readonly patienceMs: number;
}

interface OpenRequest {
  readonly id: number;
  readonly request: ExecutorRequest;
  readonly end: (answer: Answer) => void;
  readonly stop: AbortSignal | undefined;
  bytes: number;
  sends: number;
  isSent: boolean;
  patienceMs: number;
  /** Runs while no executor is connected. */
  timer?: NodeJS.Timeout;
  waitingSince: number;
}

type Send = (message: FromAgent) => void;

/**
 * The requests of an agent that have no answer yet. A lost connection ends none of them: each is sent
 * again to the next executor, until its patience is at an end.
 */
export class OpenRequests {
  readonly #nodeName: string;
  readonly #open = new Map<number, OpenRequest>();
  #lastId = 0;
  #send: Send | undefined;
  #why = 'it has not connected yet';
  #isPaused = false;

  constructor(nodeName: string) {
    this.#nodeName = nodeName;
  }

  get sent(): number {
    return [...this.#open.values()].filter(({ isSent }) => isSent).length;
  }

  ask(request: ExecutorRequest, { stop, patienceMs }: AskOptions): Promise<Answer> {
    if (stop?.aborted) return Promise.resolve({ stopped: true });
    const { promise, resolve } = Promise.withResolvers<Answer>();
    this.#lastId += 1;
    const id = this.#lastId;
    const onStop = () => this.#cancel(open);
    const open: OpenRequest = {
      ...{ id, request, stop, patienceMs, bytes: 0, sends: 0, isSent: false, waitingSince: 0 },
      end: (answer) => {
        stop?.removeEventListener('abort', onStop);
        clearTimeout(open.timer);
        this.#open.delete(id);
        resolve(answer);
        this.#sendWaiting();
      },
    };
    this.#open.set(id, open);
    stop?.addEventListener('abort', onStop);
    if (this.#send) this.#sendWaiting();
    else this.#wait(open);
    return promise;
  }

  /** An executor is ready: it gets all that is open. */
  connected(send: Send): void {
    this.#send = send;
    for (const open of this.#open.values()) {
      clearTimeout(open.timer);
      open.patienceMs -= performance.now() - open.waitingSince;
    }
    this.#sendWaiting();
  }

  disconnected(why: string): void {
    this.#why = why;
    this.#send = undefined;
    for (const open of [...this.#open.values()]) {
      const wasSent = open.isSent;
      open.isSent = false;
      if (open.stop?.aborted) open.end({ stopped: true });
      else if (wasSent && open.sends >= SENDS_MAX) {
        const what = `the executor on node ${this.#nodeName} ended ${SENDS_MAX} times during it`;
        open.end({ absent: `${what}: ${why}` });
      } else this.#wait(open);
    }
  }

  received(message: Extract<FromExecutor, { readonly id: number }>): void {
    const open = this.#open.get(message.id);
    if (!open?.isSent) return;
    if (message.type === 'result') open.end({ value: message.value });
    else if (message.type === 'refused') open.end({ refused: message.why });
    else if (open.stop?.aborted) open.end({ stopped: true });
    else this.#sendLater(open);
  }

  #sendLater(open: OpenRequest): void {
    open.isSent = false;
    open.sends -= 1;
    this.#isPaused = true;
    setTimeout(() => {
      this.#isPaused = false;
      this.#sendWaiting();
    }, BUSY_AGAIN_MS);
  }

  #wait(open: OpenRequest): void {
    open.waitingSince = performance.now();
    const what = `the executor on node ${this.#nodeName} does not answer`;
    const late = () => open.end({ absent: `${what}: ${this.#why}` });
    open.timer = setTimeout(late, Math.max(open.patienceMs, 0));
  }

  /** An action that has begun is finished, so its answer is waited for. */
  #cancel(open: OpenRequest): void {
    if (this.#send && open.isSent) this.#send({ type: 'cancel', id: open.id });
    else open.end({ stopped: true });
  }

  /** In their order, as many as the executor takes at once. */
  #sendWaiting(): void {
    const all = [...this.#open.values()];
    const sent = all.filter(({ isSent }) => isSent);
    let bytes = sent.reduce((sum, each) => sum + each.bytes, 0);
    let count = sent.length;
    for (const open of all) {
      if (!this.#send || this.#isPaused || count >= REQUESTS_MAX) return;
      if (open.isSent) continue;
      const message: FromAgent = { type: 'request', id: open.id, request: open.request };
      const length = open.bytes || lengthOf(message);
      if (typeof length === 'string') {
        open.end({ refused: length });
        return;
      }
      open.bytes = length;
      if (count > 0 && bytes + length > REQUEST_BYTES_MAX) return;
      bytes += length;
      count += 1;
      open.isSent = true;
      open.sends += 1;
      this.#send(message);
    }
  }
}

/** The bytes of a message, or why it cannot be sent. */
function lengthOf(message: FromAgent): number | string {
  try {
    return frameOf(message).length;
  } catch (error) {
    if (error instanceof FrameError) return error.message;
    throw error;
  }
}
