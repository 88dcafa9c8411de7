import {
  PROBE_QUIET_REST_MS,
  PROBE_READER_EVERY_MS,
  PROBE_READER_REST_MS,
  PROBE_READERS_SAVED_MAX,
  PROBE_SEARCH_MS,
} from './limits.ts';

/** What the tables show: no kubelet, a log that has grown, one that has not, or neither. */
export type Reason = 'gone' | 'grown' | 'quiet' | 'rest';

/** Decides when the probe may start a reader: a process that costs more than all of its reads. */
export class ProbeBudget {
  #lastMs = Number.NEGATIVE_INFINITY;
  #saved = PROBE_READERS_SAVED_MAX;

  /** Whether to start one now, which is then counted. A check counts as one for the longest wait. */
  take(reason: Reason, nowMs: number, checkedMs = Number.NEGATIVE_INFINITY): boolean {
    // A clock that was set back must not stop the probe.
    const passedMs = Math.abs(nowMs - this.#lastMs);
    const saved = Math.min(PROBE_READERS_SAVED_MAX, this.#saved + passedMs / PROBE_READER_EVERY_MS);
    const restMs = Math.min(passedMs, Math.abs(nowMs - checkedMs));
    const isDue = {
      gone: passedMs >= PROBE_SEARCH_MS,
      grown: saved >= 1 || restMs >= PROBE_READER_REST_MS,
      quiet: restMs >= PROBE_QUIET_REST_MS,
      rest: restMs >= PROBE_READER_REST_MS,
    }[reason];
    if (!isDue) return false;
    this.#lastMs = nowMs;
    this.#saved = Math.max(0, saved - 1);
    return true;
  }
}
