/** A slot is renewed this often while a step repairs; it does not expire, so this is for people. */
export const SLOT_RENEW_MS = 30_000;
export const SLOT_SECONDS = 120;

/**
 * Until a waiting agent asks again: 5 s at first and a minute at last. 1,000 waiting agents send some 40 requests
 * per second then.
 */
export const ASK_FIRST_MS = 6_000;
export const ASK_MAX_MS = 60_000;
/** An agent that has not asked for so long starts again with the shortest interval. */
export const ASK_FORGET_MS = 300_000;

/** When a maintenance window opens, agents do not all ask in the same moment. */
export const WINDOW_SPREAD_MS = 10_000;

/**
 * Until a slot that no step uses is released, and between two attempts: a step that was interrupted
 * begins again before that, and goes on with it.
 */
export const UNUSED_MS = 10_000;

/** A write without an answer may happen as late as this: then the API server gives up a request. */
export const LATE_WRITE_MS = 60_000;

/** How long a step waits for another step of its node before it reports that. */
export const TURN_MS = 5_000;
export const TURN_AGAIN_MS = 5_000;
