/** Creating a sandbox takes a second on a slow machine; a minute is a failure. */
export const CALL_MS = 60_000;

/** Shorter than the two minutes of a kubelet: users do not wait that long for a practice node. */
export const START_MS = 30_000;

/** For checking the host paths of a container, which may be on a silent file server. */
export const STAT_MS = 10_000;

/** Error output of the programs that create a container; one line of it is used. */
export const OUTPUT_BYTES_MAX = 16_384;

/** Pods and containers together: more than a kubelet's 110 pods ever have. */
export const THINGS_MAX = 2_000;

/** Until a containerd answers and knows the image: one second on an idle machine. */
export const CONTAINERD_READY_MS = 60_000;

/** One call to a containerd that may not be ready yet. */
export const CONTAINERD_ASK_MS = 1_000;

/** The end of the log of a containerd that did not start. */
export const LOG_LINES_SHOWN = 8;

/** The configuration of a containerd, which names its runc: a few hundred lines. */
export const CONFIG_BYTES_MAX = 1_000_000;
