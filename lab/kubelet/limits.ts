/**
 * Practice time: a minute of a kubelet is a second here, so that a user need not wait five minutes
 * to see a fault. Garbage collection, back-off and the health check use this clock.
 */
export const PRACTICE_MINUTE_MS = 1_000;
/** The period of the sync loop. */
export const LOOP_MS = 200;
/** The period of the cleanup of deleted pods; two seconds in a kubelet. */
export const HOUSEKEEPING_MS = 500;
/** The health check fails after a loop iteration of this length: five minutes in a kubelet. */
export const SILENCE_MS = 5 * PRACTICE_MINUTE_MS;
/** Ten seconds before the second restart of a container, then twice as long each time. */
export const FIRST_BACK_OFF_MS = PRACTICE_MINUTE_MS / 6;
/** And five minutes at most. */
export const BACK_OFF_MS_MAX = 5 * PRACTICE_MINUTE_MS;
/** A container that ran for ten minutes is restarted at once again. */
export const RUNS_WELL_MS = 10 * PRACTICE_MINUTE_MS;
/** The delay before a failed pod is synced again. */
export const RETRY_MS = PRACTICE_MINUTE_MS / 2;
/** The longest pause of a loop that waits for its runtime. */
export const RUNTIME_PAUSE_MS_MAX = 5_000;
/** A mount or an unmount is fast, but the machine may be busy. */
export const MOUNT_MS = 20_000;
/** The error output of `mount`. */
export const MOUNT_OUTPUT_BYTES_MAX = 4_000;
/** Creating an elliptic-curve key takes some milliseconds. */
export const CERTIFICATE_MS = 10_000;
export const CERTIFICATE_BYTES_MAX = 10_000;
/** Between two samples of a CPU profile: the stand-in is busy for only a few of them. */
export const PROFILE_INTERVAL_US = 1_000;
/** The default length of a CPU profile, as in any Go program. */
export const PROFILE_SECONDS = 30;
/** The kubelet ends a connection after four minutes. */
export const PROFILE_SECONDS_MAX = 200;
