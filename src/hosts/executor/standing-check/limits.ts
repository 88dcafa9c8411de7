/** Between two probes of the node. */
export const PROBE_MS = 2_000;
/** For one probe. Each of its reads has a limit, but a reader that was stopped does not even begin one. */
export const PROBE_TIMEOUT_MS = 60_000;

/** Between two checks of a node that does not change, spread so that nodes do not check together. */
export const CHECK_INTERVAL_MS = { min: 75_000, max: 105_000 } as const;

/** Between the end of a check and the next one, however often the node changes. */
export const CHECK_GAP_MS = 2_000;

/** Added to the time at which a verdict changes by itself: the check must not be a moment too early. */
export const CHECK_AGAIN_MARGIN_MS = 500;

/** After a check that could not judge a fault which the one before could: it may be a short change. */
export const CHECK_UNKNOWN_AGAIN_MS = 15_000;

/** Checks take at most this part of the time, so that a node that changes all the time can work. */
export const CHECK_SHARE = 0.05;
/** A check that takes longer waits for something that hangs, which costs the node nothing. */
export const CHECK_CHARGED_MAX_MS = 3_000;
/** Time for checks that is saved up for several changes one after another. */
export const CHECK_SAVED_MS = 15_000;

/** For one check. A dead mount takes some seconds of it. */
export const CHECK_MS = 30_000;
