import { setTimeout as sleep } from 'node:timers/promises';

/** Sleeps for a while, and no longer than until it is stopped. */
export async function sleepUntilStopped(
  ms: number,
  stop: AbortSignal,
  { ref = true } = {},
): Promise<void> {
  try {
    await sleep(ms, undefined, { signal: stop, ref });
  } catch (error) {
    if (!stop.aborted) throw error;
  }
}
