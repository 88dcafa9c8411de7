/** A disk with slower writes is too unhealthy for actions on the node. */
export const DISK_MS = 10_000;

/** The file of the lock holder is one line, and so is /proc/<pid>/stat. */
export const LOCK_BYTES_MAX = 64 * 1024;

/** Attempts at a lock that other processes take first. */
export const LOCK_TRIES_MAX = 1_000;

/** Symbolic links on the way to our directory; the kernel follows no more. */
export const LINKS_MAX = 40;

/** Files of one kind that are retained, and their total size. */
export const STORED_FILES_MAX = 20;
export const STORED_BYTES_MAX = 256 * 1024 * 1024;
