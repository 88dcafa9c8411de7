/** A plain unmount takes milliseconds; one that takes this long waits for something that is dead. */
export const unmountMs = 10_000;
/** A program that is asked for its help answers from its own text. */
export const helpMs = 3_000;
export const PROGRAM_OUTPUT_BYTES_MAX = 16 * 1024;

/** The journal is on its disk within this, or that disk is too sick to act on the node. */
export const journalMs = 10_000;
/** About a thousand deeds; then the file becomes journal.1.jsonl, and a new one begins. */
export const JOURNAL_BYTES_MAX = 1024 * 1024;
/** A journal larger than this was not written by us, and is not read into memory. */
export const JOURNAL_READ_BYTES_MAX = 8 * JOURNAL_BYTES_MAX;

/** A lock is one line, and so is the line of a process in /proc. */
export const LOCK_BYTES_MAX = 64 * 1024;
/** Takers that pass each other this often are no accident. */
export const LOCK_TRIES_MAX = 20;

/** Looking for who holds a busy mount, on a node with many processes. */
export const HOLDER_PROCESSES_MAX = 20_000;
export const HOLDER_LINKS_MAX = 50_000;
export const HOLDERS_MAX = 5;
export const holdersMs = 5_000;
