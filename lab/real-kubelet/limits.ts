/** Of one request: a node with its images and a pod with its status have some ten thousand bytes. */
export const BODY_BYTES_MAX = 4_000_000;
/** How far back a watch may begin; whoever asks for more is told to list anew. */
export const CHANGES_MAX = 1_000;
/** How soon a changed file is told to those who watch: a person does not notice it. */
export const FILES_POLL_MS = 200;
/** An old kubelet on a busy machine of two cores. */
export const VERSION_MS = 30_000;
export const VERSION_BYTES_MAX = 10_000;
/** Until the program is seen to run; what comes of it shows later. */
export const START_MS = 10_000;
/** Of a kubelet that ended: one line of its log, which may hold a whole configuration. */
export const LAST_LINES_MAX = 500;
