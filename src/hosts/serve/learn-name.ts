import { sleepUntilStopped } from '../../pipeline/store/sleep-until-stopped.ts';

/** Asks for the node name until there is an answer: the kubelet may start after the agent. */
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
