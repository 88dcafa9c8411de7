import { STORE_WAIT_FIRST_MS, STORE_WAIT_MAX_MS } from './limits.ts';
import { sleepUntilStopped } from './sleep-until-stopped.ts';
import { StoreError } from './store.ts';

/** What a store said: it did it, or why it did not. */
export type StoreAnswer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: StoreError };

/** A store's refusal as an answer. Any other error is our own mistake, and stays one. */
export async function answerOf<T>(asked: Promise<T>): Promise<StoreAnswer<T>> {
  try {
    return { ok: true, value: await asked };
  } catch (error) {
    if (error instanceof StoreError) return { ok: false, error };
    throw error;
  }
}

export interface Patience {
  /** Ends the waiting; then the last refusal is the answer. */
  readonly stop: AbortSignal;
  /** Told of every attempt that failed. */
  readonly onError?: ((message: string) => void) | undefined;
}

/** Asks again and again, ever more seldom, while the store cannot do it now. */
export async function patiently<T>(
  ask: () => Promise<T>,
  { stop, onError }: Patience,
): Promise<StoreAnswer<T>> {
  for (let waitMs = STORE_WAIT_FIRST_MS; ; waitMs = longer(waitMs)) {
    const answer = await answerOf(ask());
    if (answer.ok || answer.error.trouble !== 'ServiceUnavailable' || stop.aborted) return answer;
    onError?.(answer.error.message);
    await sleepUntilStopped(waitMs, stop);
  }
}

/** The next wait after one that was in vain. */
export function longer(waitMs: number): number {
  return Math.min(waitMs * 2, STORE_WAIT_MAX_MS);
}
