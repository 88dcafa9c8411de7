/** A process younger than this is probably short-lived: a mount command, a check of the kubelet. */
export const YOUNG_MS = 250;

/** Files of one snapshot; 5,000 leftovers are far below it. */
export const FILES_MAX = 100_000;

/** Larger files are compared by their size instead of their content. */
export const CONTENT_BYTES_MAX = 64 * 1024;

/** Characters of a command line: that of a Java process can fill pages. */
export const COMMAND_LINE_MAX = 400;

/**
 * How long after an action the node may still change. Only a failing case waits this long, and a
 * snapshot on a busy machine takes seconds.
 */
export const SETTLE_MS = 30_000;
export const CHECK_AGAIN_MS = 200;

/** A check on a node with a silent mount takes some seconds, and more on a busy machine. */
export const CHECK_MS = 60_000;
/** With --wait, `recover` waits for the kubelet to restart a container. */
export const RECOVER_MS = 120_000;
/** Breaking and healing wait for a kubelet, and for a real containerd. */
export const ACTION_MS = 120_000;
export const SNAPSHOT_MS = 60_000;

/** A runtime that takes longer to list its pods does not answer. */
export const RUNTIME_ANSWER_MS = 5_000;
