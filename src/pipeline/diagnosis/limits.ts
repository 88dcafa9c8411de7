/**
 * Results in a status, as JSON: one value, and all with their keys. A status may also have failed
 * paths (512 KiB) and steps (about 400 KB), and everything must fit into etcd.
 */
export const RESULT_SHOWN_BYTES_MAX = 64 * 1024;
export const RESULTS_SHOWN_BYTES_MAX = 512 * 1024;

/** The sentence in a status that says where a large result is, with the command that fetches it. */
export const SENTENCE_BYTES = 512;

/**
 * Findings in a status, their proof, the actions that were done or are planned, and files, each as JSON:
 * the rest of the space in etcd when everything else is at its limit.
 */
export const FINDINGS_SHOWN_BYTES_MAX = 40 * 1024;
export const PROOF_SHOWN_BYTES_MAX = 24 * 1024;
export const ACTIONS_SHOWN_BYTES_MAX = 24 * 1024;
export const FILES_SHOWN_BYTES_MAX = 8 * 1024;

/** All results of a Diagnosis, with those in files: every later step gets all of them. */
export const RESULTS_COMPLETE_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Diagnoses that run at once. Most of them wait for a semaphore or for the next attempt at a server,
 * with about 80 KB each. Steps that use the node have limits of their own, below.
 */
export const IN_FLIGHT_MAX = 1_000;

/** Of these, steps with large results of earlier ones: each may have 16 MiB in memory. */
export const LARGE_STEPS_MAX = 100;

/** In addition, Diagnoses whose end only has to be written: they do not wait for steps of others. */
export const OVERDUE_MAX = 100;

/** An agent asks again for the actions of a Diagnosis that ended while it was away: each is a read of a file. */
export const JOURNAL_RETRY_MS = 30_000;

/** The longest timer of Node; a longer wait takes several. */
export const TIMER_MAX_MS = 2_147_483_647;

/** Graphs whose paths are cached; the paths of the largest have 512 KiB. */
export const GRAPHS_CACHED_MAX = 16;
