/** From SIGTERM to SIGKILL: long enough to clean up, short enough not to be felt. */
export const termGraceMs = 300;
/** From SIGKILL to giving up on the child: a killed process that is not in the kernel is gone by then. */
export const killGraceMs = 300;
/** From the end of the child to the end of its pipes, which a grandchild may hold open for ever. */
export const drainMs = 100;
