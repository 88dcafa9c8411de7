/** A write is on its disk within this, or that disk is too sick to act on the node. */
export const DISK_MS = 10_000;

/** Who holds a lock is one line, and so is the line of a process in /proc. */
export const LOCK_BYTES_MAX = 64 * 1024;

/** Symbolic links on the way to our folder; the kernel follows no more. */
export const LINKS_MAX = 40;

/** Two that take a lock in the same moment step back, and one has it within this. */
export const LOCK_WAIT_MS = 200;

/** Files of one kind that are kept, and what they may take of the disk together. */
export const KEPT_FILES_MAX = 20;
export const KEPT_BYTES_MAX = 256 * 1024 * 1024;
