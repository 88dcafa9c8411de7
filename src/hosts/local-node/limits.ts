/** Attempts to settle interrupted actions: an umount process of the crash may still be running. */
export const SETTLE_TRIES_MAX = 15;
export const SETTLE_AGAIN_MS = 1_000;
