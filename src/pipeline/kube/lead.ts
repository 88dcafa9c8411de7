import { sleepUntilStopped } from '../store/sleep-until-stopped.ts';
import { answerOf } from '../store/store-answer.ts';
import { StoreError } from '../store/store-error.ts';
import type { KubeClient } from './kube-client.ts';
import type { Lease } from './lease.ts';
import { LEAD_RETRY_MS } from './limits.ts';

interface LeadOptions {
  readonly stop: AbortSignal;
  readonly onError: (message: string) => void;
  /** Runs while this process leads, and ends soon after its signal is aborted. */
  readonly work: (stop: AbortSignal) => Promise<void>;
  /** How often each process tries; the default is LEAD_RETRY_MS. */
  readonly retryMs?: number;
}

/** Of several processes one works at a time: the one that holds the Lease. */
export async function lead(
  lease: Lease,
  { stop, onError, work, retryMs = LEAD_RETRY_MS }: LeadOptions,
): Promise<void> {
  const renew = async () => {
    const answer = await answerOf(lease.hold());
    if (!answer.ok) onError(answer.error.message);
    await sleepUntilStopped(retryMs, stop);
  };
  while (!stop.aborted) {
    await renew();
    if (!lease.isHeld || stop.aborted) continue;
    const leading = new AbortController();
    const working = work(AbortSignal.any([stop, leading.signal]));
    while (lease.isHeld && !stop.aborted) await renew();
    leading.abort();
    await working;
  }
  const released = await answerOf(lease.release());
  if (!released.ok) onError(released.error.message);
}

/** The same client, which writes only while `isLeading`: another process may write from then on. */
export function writingWhile(isLeading: () => boolean, client: KubeClient): KubeClient {
  return {
    ...client,
    request: async (request) => {
      if (request.method === 'GET' || isLeading()) return client.request(request);
      const what = `${request.method} ${request.path}`;
      throw new StoreError(
        'ServiceUnavailable',
        `${what}: not sent: this process may no longer lead`,
      );
    },
  };
}
