/**
 * Practice time: what takes a kubelet a minute takes ours a second, so that nobody waits five minutes
 * to see a fault. Its collections, its back-off and its own health check go by this clock.
 */
export const PRACTICE_MINUTE_MS = 1_000;
/** How often the sync loop turns: a change of an object is seen before a person has looked up. */
export const LOOP_MS = 200;
/** How often it cleans up after pods that are gone; every two seconds in a kubelet. */
export const HOUSEKEEPING_MS = 500;
/** So long may the loop be silent before the health check calls it dead: five minutes. */
export const SILENCE_MS = 5 * PRACTICE_MINUTE_MS;
/** Ten seconds before the second restart of a container, then twice as long each time. */
export const FIRST_BACK_OFF_MS = PRACTICE_MINUTE_MS / 6;
/** And five minutes at most. */
export const BACK_OFF_MS_MAX = 5 * PRACTICE_MINUTE_MS;
/** A container that ran for ten minutes is restarted at once again. */
export const RUNS_WELL_MS = 10 * PRACTICE_MINUTE_MS;
/** When a pod could not be brought to what it should be, it is tried again after so long. */
export const RETRY_MS = PRACTICE_MINUTE_MS / 2;
/** So long is the longest pause of a loop that waits for its runtime. */
export const RUNTIME_PAUSE_MS_MAX = 5_000;
/** A mount or an unmount is done at once; a machine of two cores may be busy. */
export const MOUNT_MS = 20_000;
/** Of what `mount` says when it refuses. */
export const MOUNT_OUTPUT_BYTES_MAX = 4_000;
/** To make a key of an elliptic curve takes some milliseconds. */
export const CERTIFICATE_MS = 10_000;
export const CERTIFICATE_BYTES_MAX = 10_000;
/** Between two samples of a CPU profile: a small kubelet is busy for a few of them only. */
export const PROFILE_INTERVAL_US = 1_000;
/** How long a CPU profile takes when nobody says it, as in any Go program. */
export const PROFILE_SECONDS = 30;
/** The kubelet ends a connection after four minutes. */
export const PROFILE_SECONDS_MAX = 200;
