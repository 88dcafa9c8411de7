/** Making a sandbox takes a second on a slow machine; a minute is a failure. */
export const CALL_MS = 60_000;

/** What a kubelet grants a runtime, too, is two minutes; a practice node should not be waited for so long. */
export const START_MS = 30_000;

/** A look at the host paths of a container; one that a silent file server holds up is not waited for. */
export const STAT_MS = 10_000;

/** Of what the programs that make a container say; one line of it is used. */
export const WORDS_BYTES_MAX = 16_384;

/** Pods and containers together: more than a kubelet's 110 pods ever have. */
export const THINGS_MAX = 2_000;
