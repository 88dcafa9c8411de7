/**
 * Results that a status shows, as JSON: one value, and all with their keys. Beside them a status may
 * hold the failed paths (512 KiB) and the list of steps (some 400 KB), and all must fit into etcd.
 */
export const RESULT_SHOWN_BYTES_MAX = 64 * 1024;
export const RESULTS_SHOWN_BYTES_MAX = 512 * 1024;

/**
 * Findings that a status lists, the lines that prove them, and the actions that were done or are
 * planned, each as JSON: what is left of etcd when all the others are at their limits.
 */
export const FINDINGS_SHOWN_BYTES_MAX = 40 * 1024;
export const PROOF_SHOWN_BYTES_MAX = 24 * 1024;
export const ACTIONS_SHOWN_BYTES_MAX = 24 * 1024;

/** All results of a Diagnosis, those beside the store among them: every later step is told all. */
export const RESULTS_COMPLETE_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Diagnoses that are driven at once. Most of them wait: for a turn, or for a server that is asked
 * again, with some 80 KB each. What costs the node has turns of its own, below.
 */
export const IN_FLIGHT_MAX = 1_000;

/** Of these, with results beside the status, which a step is told whole: each may have 16 MiB. */
export const LARGE_STEPS_MAX = 100;

/** Beside them, those whose end has only to be written: they wait for no step of others. */
export const OVER_MAX = 100;

/** Steps of ours that look at the node at once: each starts children of its own. */
export const READING_STEPS_MAX = 8;

/** How long the kubelet and the runtime may take to say whether a pod is there. */
export const POD_LOOKUP_MS = 30_000;

/** Scripts and functions at once: nobody knows what each of them takes of the node. */
export const PROGRAM_STEPS_MAX = 16;

/** Servers that are asked at once: each answer is held until it is whole, and may have 2 MiB. */
export const EXCHANGES_MAX = 100;

/** A timer of Node holds no more. Whoever waits longer asks in between. */
export const TIMER_MAX_MS = 2_147_483_647;

/** Graphs whose paths are remembered; the largest has 512 KiB of them. */
export const GRAPHS_REMEMBERED_MAX = 16;
