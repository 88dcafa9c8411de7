/** Making a sandbox takes a second on a slow machine; a minute is a failure. */
export const CALL_MS = 60_000;

/** What a kubelet grants a runtime, too, is two minutes; a practice node should not be waited for so long. */
export const START_MS = 30_000;

/** A look at the host paths of a container; one that a silent file server holds up is not waited for. */
export const STAT_MS = 10_000;

/** Of what the programs that make a container say; one line of it is used. */
export const OUTPUT_BYTES_MAX = 16_384;

/** Pods and containers together: more than a kubelet's 110 pods ever have. */
export const THINGS_MAX = 2_000;

/** Until a containerd answers, and knows the image: a second, on a machine that has time for it. */
export const CONTAINERD_READY_MS = 60_000;

/** A question to a containerd that may not be there yet. */
export const CONTAINERD_ASK_MS = 1_000;

/** Of the log of a containerd that did not start: the end of it tells why. */
export const LOG_LINES_SHOWN = 8;

/** Of a containerd's own configuration, when its runc is looked for: such a file has a few hundred lines. */
export const CONFIG_BYTES_MAX = 1_000_000;
