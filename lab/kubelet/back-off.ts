import { BACK_OFF_MS_MAX, FIRST_BACK_OFF_MS, PRACTICE_MINUTE_MS } from './limits.ts';

/** The restart delay of a container: none at first, then growing. */
export function backOffMs(restarts: number): number {
  if (restarts === 0) return 0;
  return Math.min(FIRST_BACK_OFF_MS * 2 ** (restarts - 1), BACK_OFF_MS_MAX);
}

/** As a kubelet writes it, in its own time: "10s", "2m40s". */
export function backOffWord(ms: number): string {
  const seconds = Math.round((ms * 60) / PRACTICE_MINUTE_MS);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
