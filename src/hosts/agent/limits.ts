/** The Lease of a node is renewed this often, and is old after several failures in a row. */
export const LEASE_RENEW_MS = 30_000;
export const LEASE_SECONDS = 120;

/** Without an answer of the API server for so long the agent is not ready: it renews its Lease more often. */
export const API_SILENT_MS = 90_000;

/** How long a step waits for an API server that is away: longer than one takes to restart. */
export const API_WAIT_MS = 60_000;

/** How long a result waits for an executor that is away. */
export const EXECUTOR_ABSENT_MS = 60_000;

/** How long the end of a Diagnosis waits for an executor that is connected and does not respond. */
export const EXECUTOR_SILENT_MS = 10_000;

/** How long the release of an unused slot waits until the executor has settled the journal; it is tried again. */
export const SETTLE_MS = 60_000;

/** How long an agent that has just started waits for the executor to connect before it says so. */
export const EXECUTOR_START_MS = 5_000;

/**
 * What an agent has in memory at once: Diagnoses that run, each with a status of up to 1.5 MB and the bytes
 * of an answer of up to 2 MiB. An answer is several times as large while it is read and stored.
 */
export const IN_FLIGHT_MAX = 16;
export const LARGE_ANSWERS_MAX = 1;

/** A watch reports what the controller has done with a step; this is for a watch that has missed it. */
export const CONTROLLER_WAIT_MS = 60_000;
