import { FrameError, frameOf } from './frames.ts';
import { BUSY_AGAIN_MS, REQUEST_BYTES_MAX, REQUESTS_MAX, SENDS_MAX } from './limits.ts';
import type { FromAgent, FromExecutor } from './messages.ts';
import type { ExecutorRequest } from './request-schema.ts';

/** What a request came to. */
export type Answer =
  | { readonly value: unknown }
  /** The executor declined it. */
  | { readonly refused: string }
  /** No executor answered in time. An executor that had the request may have acted. */
  | { readonly absent: string; readonly wasSent: boolean }
  | { readonly stopped: true; readonly wasSent: boolean };

export interface AskOptions {
  readonly stop?: AbortSignal | undefined;
  /** How long all waits for an executor that is not connected may take together; may be infinite. */
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
  wait?: { readonly timer: NodeJS.Timeout; readonly since: number } | undefined;
}

type Send = (frame: Buffer) => void;

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
    if (stop?.aborted) return Promise.resolve({ stopped: true, wasSent: false });
    const { promise, resolve } = Promise.withResolvers<Answer>();
    this.#lastId += 1;
    const id = this.#lastId;
    const onStop = () => this.#cancel(open);
    const open: OpenRequest = {
      ...{ id, request, stop, patienceMs, bytes: 0, sends: 0, isSent: false },
      end: (answer) => {
        stop?.removeEventListener('abort', onStop);
        endWait(open);
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
    for (const open of this.#open.values()) endWait(open);
    this.#sendWaiting();
  }

  /** Also called for a connection that was lost before the executor was ready. */
  disconnected(why: string): void {
    this.#why = why;
    this.#send = undefined;
    for (const open of [...this.#open.values()]) {
      const wasSent = open.isSent;
      open.isSent = false;
      if (open.stop?.aborted) open.end({ stopped: true, wasSent: open.sends > 0 });
      else if (wasSent && open.sends >= SENDS_MAX) {
        const what = `the executor on node ${this.#nodeName} ended ${SENDS_MAX} times during it`;
        open.end({ absent: `${what}: ${why}`, wasSent: true });
      } else this.#wait(open);
    }
  }

  received(message: Extract<FromExecutor, { readonly id: number }>): void {
    const open = this.#open.get(message.id);
    if (!open?.isSent) return;
    if (message.type === 'result') open.end({ value: message.value });
    else if (message.type === 'refused') open.end({ refused: message.why });
    else if (open.stop?.aborted) open.end({ stopped: true, wasSent: open.sends > 1 });
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
    endWait(open);
    if (open.patienceMs === Number.POSITIVE_INFINITY) return;
    const what = `the executor on node ${this.#nodeName} does not answer`;
    const late = () => open.end({ absent: `${what}: ${this.#why}`, wasSent: open.sends > 0 });
    const timer = setTimeout(late, Math.max(open.patienceMs, 0));
    open.wait = { timer, since: performance.now() };
  }

  /** An action that has begun is finished, so its answer is waited for. */
  #cancel(open: OpenRequest): void {
    if (this.#send && open.isSent) this.#send(frameOf({ type: 'cancel', id: open.id }));
    else open.end({ stopped: true, wasSent: open.sends > 0 });
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
      const isTooMuch = () => count > 0 && bytes + open.bytes > REQUEST_BYTES_MAX;
      if (isTooMuch()) return;
      const frame = requestFrame(open);
      if (typeof frame === 'string') {
        open.end({ refused: frame });
        return;
      }
      open.bytes = frame.length;
      // Its frame would only take memory until then.
      if (isTooMuch()) return;
      bytes += frame.length;
      count += 1;
      open.isSent = true;
      open.sends += 1;
      this.#send(frame);
    }
  }
}

/** Time without an executor counts, whether one came or only tried to. */
function endWait(open: OpenRequest): void {
  if (!open.wait) return;
  clearTimeout(open.wait.timer);
  open.patienceMs -= performance.now() - open.wait.since;
  open.wait = undefined;
}

/** A request as it travels, or why it cannot be sent. */
function requestFrame({ id, request }: OpenRequest): Buffer | string {
  const message: FromAgent = { type: 'request', id, request };
  try {
    return frameOf(message);
  } catch (error) {
    if (error instanceof FrameError) return error.message;
    throw error;
  }
}
