/** One request: a Node with its images or a Pod with its status has some ten thousand bytes. */
export const BODY_BYTES_MAX = 4_000_000;
/** Changes that a watch can resume from; an older one must list again. */
export const CHANGES_MAX = 1_000;
/** The poll period for changed files. */
export const FILES_POLL_MS = 200;
/** For `kubelet --version` of an old kubelet on a busy machine with two cores. */
export const VERSION_MS = 30_000;
export const VERSION_BYTES_MAX = 10_000;
/** Until the program has started. */
export const START_MS = 10_000;
/** One log line of a kubelet that ended; it may contain a whole configuration. */
export const LAST_LINES_MAX = 500;
