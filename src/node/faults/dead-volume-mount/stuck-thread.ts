import type { BlockedThread } from '../../evidence/stacks/blocked-threads.ts';
import type { DeadMount } from './dead-mount.ts';
import type { Loop } from './loop.ts';

export type StuckThread = BlockedThread & Required<Pick<BlockedThread, 'seenFor'>>;

/** So long the kubelet's own health check waits before it calls the loop dead. */
const STUCK_MS = 5 * 60_000;

/** How the loop reads a volume. Statistics of it are statfs, and its unmount is umount2. */
export const LOOKS: ReadonlySet<string> = new Set(['stat', 'lstat', 'newfstatat', 'statx']);

/**
 * A thread that waits there as the sync loop would, for as long as the loop may be silent. Whatever
 * shows a turn of the loop within that time shows that another part of the kubelet waits.
 */
export function stuckThread({ threads }: DeadMount, loop: Loop): StuckThread | undefined {
  if (loop.isWell) return undefined;
  return threads.find((thread): thread is StuckThread => {
    const { call, seenFor } = thread;
    if (!seenFor || seenFor.ms < STUCK_MS || !LOOKS.has(call)) return false;
    return !loop.since || loop.since.getTime() < seenFor.since.getTime();
  });
}
