import { LACKS_RIGHT_MS, STORE_WAIT_FIRST_MS, STORE_WAIT_MAX_MS } from './limits.ts';
import { sleepUntilStopped } from './sleep-until-stopped.ts';
import { isTemporary, lacksRight, StoreError } from './store-error.ts';

/** The result of a request to a store, or its error. */
export type StoreAnswer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: StoreError };

/** Any error that is not a `StoreError` is a defect and stays thrown. */
export async function answerOf<T>(request: Promise<T>): Promise<StoreAnswer<T>> {
  try {
    return { ok: true, value: await request };
  } catch (error) {
    if (error instanceof StoreError) return { ok: false, error };
    throw error;
  }
}

interface RetryOptions {
  /** Ends the retries; the last error is the answer then. */
  readonly shutdown: AbortSignal;
  /** Called for every failed attempt. */
  readonly onError?: ((message: string) => void) | undefined;
  /** How long a missing right may be that of an API server that has just started. */
  readonly lacksRightMs?: number;
}

/** Repeats a request while the error is temporary, at growing intervals. */
export async function retried<T>(
  request: () => Promise<T>,
  { shutdown, onError, lacksRightMs = LACKS_RIGHT_MS }: RetryOptions,
): Promise<StoreAnswer<T>> {
  const begun = performance.now();
  const mayPass = (error: StoreError) =>
    isTemporary(error) || (lacksRight(error) && performance.now() - begun < lacksRightMs);
  for (let waitMs = STORE_WAIT_FIRST_MS; ; waitMs = longer(waitMs)) {
    const answer = await answerOf(request());
    if (answer.ok || !mayPass(answer.error) || shutdown.aborted) return answer;
    onError?.(answer.error.message);
    await sleepUntilStopped(spread(waitMs, answer.error.retryAfterMs), shutdown);
  }
}

/** The wait after one that was too short. */
export function longer(waitMs: number): number {
  return Math.min(waitMs * 2, STORE_WAIT_MAX_MS);
}

/** A random wait of about that length, so that many clients do not come back together. */
export function spread(waitMs: number, retryAfterMs = 0): number {
  return Math.max(waitMs * (1 + Math.random()) * 0.5, retryAfterMs * (1 + Math.random() * 0.25));
}
