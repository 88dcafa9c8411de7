import { answerOf } from '../store/store-answer.ts';
import type { KubeClient } from './kube-client.ts';

/** When the API server has answered last, and how much it was asked. */
export class ApiContact {
  readonly client: KubeClient;
  readonly requests = new Map<string, number>();
  /** The failed ones, by the reason of the error. */
  readonly failures = new Map<string, number>();
  #lastMs: number | undefined;
  #lastError = 'it has not answered yet';

  constructor(client: KubeClient) {
    this.client = {
      request: async (request) => {
        this.#count(request.method);
        const answer = await answerOf(client.request(request));
        if (answer.ok || answer.error.reason === 'NotFound' || answer.error.reason === 'Conflict') {
          this.#lastMs = performance.now();
        } else this.#lastError = answer.error.message;
        if (answer.ok) return answer.value;
        const { reason } = answer.error;
        this.failures.set(reason, (this.failures.get(reason) ?? 0) + 1);
        throw answer.error;
      },
      watch: (path, query, stop) => this.#watched(client.watch(path, query, stop)),
      close: () => client.close(),
    };
  }

  /** Undefined if it has answered within this time. */
  silence(forMs: number): string | undefined {
    if (this.#lastMs === undefined) return this.#lastError;
    const silentMs = performance.now() - this.#lastMs;
    if (silentMs <= forMs) return undefined;
    return `no answer for ${Math.round(silentMs / 1_000)}s; ${this.#lastError}`;
  }

  async *#watched(events: AsyncIterable<unknown>): AsyncGenerator<unknown> {
    this.#count('WATCH');
    for await (const event of events) {
      this.#lastMs = performance.now();
      yield event;
    }
  }

  #count(method: string): void {
    this.requests.set(method, (this.requests.get(method) ?? 0) + 1);
  }
}
