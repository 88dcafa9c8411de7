/** The end of a log that the probe reads: what a kubelet writes within some seconds. */
export const PROBE_LOG_BYTES = 32 * 1024;

/** What a kubelet may write between two calls of the probe. */
export const PROBE_LOG_MARGIN_BYTES = 8 * 1024;

/** The newest files of the kubelet's log that the probe reads. */
export const PROBE_LOG_FILES_MAX = 2;

/** An error that the log has repeated within this time is no news. */
export const PROBE_NEWS_MS = 600_000;
/** Errors that the probe remembers, and the characters of each. */
export const PROBE_LINES_MAX = 200;
export const PROBE_LINE_CHARACTERS = 1_000;

/** The part of the time that a quick reader may spend on names and files: 2 millicores. */
export const WATCHED_SHARE = 0.002;

/** The same for the mount table: 4 millicores. A node with 2,000 mounts has it read every 2 s. */
export const MOUNTS_SHARE = 0.004;

/** After a read that took long once, for example on a node without a free processor. */
export const PACED_REST_MS_MAX = 60_000;

/** How long the probe remembers where to read; the search costs more than the reads. */
export const PROBE_PLACES_MS = 600_000;
/** The same for places that may soon be others. */
export const PROBE_NEW_PLACES_MS = 60_000;

/**
 * Readers of the probe. One takes 0.1s of a processor, so one each 25s takes 4 millicores. A log that
 * grows after some quiet may have several at once.
 */
export const PROBE_READER_EVERY_MS = 25_000;
export const PROBE_READERS_SAVED_MAX = 3;

/** Between two readers, of the probe or a check, if the log has no length to read, as in a journal. */
export const PROBE_READER_REST_MS = 30_000;

/** The same if the log does not grow: only the health may have changed, or the place of the log. */
export const PROBE_QUIET_REST_MS = 60_000;

/** Between two searches for a kubelet that does not run. */
export const PROBE_SEARCH_MS = 4_000;
