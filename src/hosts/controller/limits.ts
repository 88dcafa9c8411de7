/** Length of a message that a digest remembers: enough for status.failedNodes. */
export const MESSAGE_CHARACTERS_MAX = 300;

/** Delay until a change that only time causes is seen; to read ten thousand digests takes about a millisecond. */
export const SWEEP_MS = 2_000;

/** Another writer was first: it may be about to write again. */
export const CONFLICT_WAIT_MS = 200;

/** Diagnoses on which one part works at once: the API server has other clients. */
export const DIAGNOSES_AT_ONCE = 8;

/**
 * A node that starts again is back by then, and its Diagnoses go on. What ends cannot go on, and to wait
 * costs nothing.
 */
export const LOST_END_MS = 600_000;

/** How often the pod of a Diagnosis is read until it has a node: soon at first, then less and less often. */
export const POD_WAIT_MIN_MS = 500;
export const POD_WAIT_MAX_MS = 30_000;

/** Without an answer of the API server for so long this process is not ready. */
export const API_SILENT_MS = 60_000;

/** A collection that a leader could not list for so long makes it not ready. */
export const UNSYNCED_MS = 60_000;

/** How often the admission policies are read: without them no repair may begin. */
export const RIGHTS_CHECK_MS = 30_000;
/** The same, while the API server has a policy that it does not enforce: it needs about a second for a new one. */
export const NOT_ENFORCED_CHECK_MS = 5_000;
/** After this all API servers enforce a policy that one of them enforces. */
export const ENFORCED_MS = 3_000;
