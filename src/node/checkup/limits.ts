/** The end of a log that the probe reads: what a kubelet writes within some seconds. */
export const PROBE_LOG_BYTES = 32 * 1024;

/** The newest files of the kubelet's log that the probe reads. */
export const PROBE_LOG_FILES_MAX = 2;

/** How long the probe remembers where to read: a kubelet that starts opens its ports later. */
export const PROBE_PLACES_MS = 60_000;
