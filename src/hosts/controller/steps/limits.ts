/** Without a success for so long, a Diagnosis makes space for others: the errors may be of its namespace alone. */
export const WRITE_MS = 60_000;

/** After an error of the API server that was not temporary. */
export const STEP_RETRY_MS = 30_000;

/** How often it is asked whether the RecoveryPolicy permits a change by now: first and at last. */
export const POLICY_WAIT_MS = 10_000;
export const POLICY_WAIT_MAX_MS = 300_000;

/** Attempts to change an object that somebody else changes at the same time. */
export const CHANGE_ATTEMPTS_MAX = 5;
