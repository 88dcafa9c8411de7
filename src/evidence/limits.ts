/** Reads of a mount table on an old kernel before we give up on two that agree. */
export const STABLE_READS_MAX = 5;
