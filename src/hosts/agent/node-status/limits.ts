/** A finding is gone after this many checks in a row that do not have it. */
export const CLEAR_CHECKS = 2;

/** A fault counts as unknown after this many checks in a row that could not judge it. */
export const UNKNOWN_CHECKS = 3;

/** A finding gets a better state, or another reason, when the old one was not seen for so long. */
export const STATE_HELD_MS = 60_000;

/**
 * A finding that returns within this time after it was gone is the same one that comes and goes. With
 * each return it must be absent for longer until it is gone again.
 */
export const RETURN_MS = 600_000;
export const RETURNED_ABSENT_MS = 60_000;

/** Findings that are remembered after they were gone. */
export const GONE_FINDINGS_MAX = 1_000;

/** The message of the condition: what is wrong and what to do, for `kubectl describe node`. */
export const CONDITION_CHARACTERS_MAX = 550;

/** A longer manual step is not shown in such a message. */
export const MANUAL_STEP_CHARACTERS_MAX = 200;

/** The API server refuses notes of more than 1,024 bytes. */
export const EVENT_CHARACTERS_MAX = 600;

/** How often an unchanged NodeReport and condition are written again, so that they are seen to be new. */
export const HEARTBEAT_MS = 300_000;

/** Without a check for so long the faults of the node are not known. A check takes up to 30 s. */
export const SILENT_MS = 180_000;

/** Events that wait until the API server takes them. */
export const EVENTS_WAITING_MAX = 100;

/** Between two attempts, when the API server refuses what only an administrator can change. */
export const REFUSED_MS = 60_000;
