/** Maintenance windows that are not valid, in one message; the others are counted. */
export const PROBLEMS_SHOWN_MAX = 3;
