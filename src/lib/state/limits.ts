/** A write is on its disk within this, or that disk is too sick to act on the node. */
export const DISK_MS = 10_000;

/** Who holds a lock is one line, and so is the line of a process in /proc. */
export const LOCK_BYTES_MAX = 64 * 1024;

/** How often others may be faster with a lock: each time one of them has had it. */
export const LOCK_TRIES_MAX = 1_000;

/** Symbolic links on the way to our folder; the kernel follows no more. */
export const LINKS_MAX = 40;

/** Files of one kind that are retained, and their total size. */
export const STORED_FILES_MAX = 20;
export const STORED_BYTES_MAX = 256 * 1024 * 1024;
