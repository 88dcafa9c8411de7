/** A process that began a moment ago is on its way to its end: a mount command, a look of the kubelet. */
export const YOUNG_MS = 250;

/** Of one look at the node's files; 5,000 leftovers are far below it. */
export const FILES_MAX = 100_000;

/** A file of this size is compared by its content, a larger one by its size. */
export const CONTENT_BYTES_MAX = 64 * 1024;

/** A command line is told so far: programs of Java have pages of them. */
export const COMMAND_LINE_MAX = 400;

/**
 * From a deed to the moment at which the node must be at rest again. Only what fails waits so long, and
 * a look on a busy machine takes seconds of it.
 */
export const SETTLE_MS = 30_000;
export const CHECK_AGAIN_MS = 200;

/** A check on a node with a silent mount takes some seconds, on a busy machine a multiple. */
export const CHECK_MS = 60_000;
/** With --wait: the longest that we wait for a kubelet that starts a container anew. */
export const RECOVER_MS = 120_000;
/** Breaking and healing wait for a kubelet, and for a real containerd. */
export const ACTION_MS = 120_000;
export const SNAPSHOT_MS = 60_000;

/** A runtime lists its pods within a fraction of this; one that does not is silent. */
export const RUNTIME_ANSWER_MS = 5_000;
