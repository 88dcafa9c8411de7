/** From one attempt to settle what was left open to the next; an umount that was left behind ends. */
export const SETTLE_TRIES_MAX = 15;
export const SETTLE_AGAIN_MS = 1_000;
