import { setTimeout as sleep } from 'node:timers/promises';
import { CHECK_INTERVAL_MS } from './limits.ts';

/** Polls a condition, and throws with its description after the time limit. */
export async function until(
  what: string,
  isSo: () => Promise<boolean> | boolean,
  limitMs: number,
): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (!(await isSo())) {
    if (Date.now() > deadline)
      throw new Error(`timed out after ${limitMs / 1_000}s waiting until ${what}`);
    await sleep(CHECK_INTERVAL_MS);
  }
}
