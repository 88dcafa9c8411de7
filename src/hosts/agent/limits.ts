/** The Lease of a node is renewed this often, and is old after several failures in a row. */
export const LEASE_RENEW_MS = 30_000;
export const LEASE_SECONDS = 120;

/** Without an answer of the API server for so long the agent is not ready: it renews its Lease more often. */
export const API_SILENT_MS = 90_000;

/** How long an agent without an executor waits before built-in Operations count as missing. */
export const EXECUTOR_ABSENT_MS = 60_000;

/** Requests at once to servers that Operations name: each response may have 2 MiB in memory. */
export const EXCHANGES_MAX = 20;

/** Equal messages within this time are logged once. */
export const LOG_REPEAT_MS = 60_000;
export const LOG_REPEATS_MAX = 100;

/** Steps at once with large results: each has up to 16 MiB of them, several times as a message is made. */
export const LARGE_STEPS_MAX = 1;

/** Diagnoses that run at once: each may have a status of 1.5 MB, several times while it is changed. */
export const IN_FLIGHT_MAX = 32;
