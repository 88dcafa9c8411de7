import { sleepUntilStopped } from '../../pipeline/store/sleep-until-stopped.ts';
import { SWEEP_MS } from './limits.ts';

/** Calls `check` again and again until `stop`, for what changes with time alone. */
export async function sweep(stop: AbortSignal, check: () => void): Promise<void> {
  while (!stop.aborted) {
    check();
    await sleepUntilStopped(SWEEP_MS, stop);
  }
}
