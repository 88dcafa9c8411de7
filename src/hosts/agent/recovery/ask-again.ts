import { ASK_FIRST_MS, ASK_MAX_MS, WINDOW_SPREAD_MS } from './limits.ts';

/** Until a waiting agent asks again: later each time, at a random moment, and soon after a window opens. */
export function nextAskMs(
  count: number,
  changesAt: Date | undefined,
  now: Date,
  random = Math.random,
): number {
  const longest = Math.min(ASK_FIRST_MS * 1.6 ** count, ASK_MAX_MS);
  const againMs = longest * (0.84 + 0.16 * random());
  if (!changesAt) return againMs;
  const untilMs = Math.max(changesAt.getTime() - now.getTime(), 0) + WINDOW_SPREAD_MS * random();
  return Math.min(againMs, untilMs);
}
