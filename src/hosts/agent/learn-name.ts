import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Asks until somebody says it. A kubelet that is started after us says it later, and a Diagnosis that
 * names the node waits for a minute.
 */
export async function learnName(
  ask: () => Promise<string | undefined>,
  againMs: number,
  stop: AbortSignal,
): Promise<string | undefined> {
  while (!stop.aborted) {
    await Promise.allSettled([sleep(againMs, undefined, { signal: stop, ref: false })]);
    const reported = stop.aborted ? undefined : await ask();
    if (reported !== undefined) return reported;
  }
  return undefined;
}
