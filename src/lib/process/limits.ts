/** From SIGTERM to SIGKILL: long enough to clean up, too short for a user to notice. */
export const termGraceMs = 300;
/** From SIGKILL to abandoning the child: later than this, it hangs in the kernel. */
export const killGraceMs = 300;
/** From the exit of the child to the end of its pipes, which a grandchild may hold open. */
export const drainMs = 100;
/**
 * Turns of the event loop in a row that read output of a program that has ended. One or two read what
 * the pipe holds; after more, a process lives on and writes.
 */
export const drainTurnsMax = 10;
