import { sleepUntilStopped } from '../../pipeline/store/sleep-until-stopped.ts';

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
    await sleepUntilStopped(againMs, stop, { ref: false });
    const reported = stop.aborted ? undefined : await ask();
    if (reported !== undefined) return reported;
  }
  return undefined;
}
