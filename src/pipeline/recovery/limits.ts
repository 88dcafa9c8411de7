/** Failed recoveries in the annotation of one slot Lease: about 5 KB, and the controller copies them. */
export const SLOT_FAILURES_MAX = 20;

/** Maintenance windows that are not valid, in one message; the others are counted. */
export const PROBLEMS_SHOWN_MAX = 3;
