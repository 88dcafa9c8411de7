import { plainFunction } from '../../../lib/go/function-name.ts';
import type { GoroutineGroup } from '../../../lib/go/goroutine-dump.ts';
import { defined } from '../../../lib/std/defined.ts';
import { attempt, defineEvidence, type Snapshot } from '../../model/evidence.ts';
import { ReadError } from '../../model/node-reader.ts';
import type { FileOrigin } from '../../model/origin.ts';
import type { ThreadStack } from '../../model/thread.ts';
import { kubelet } from '../kubelet/kubelet.ts';
import { podPathOf, type Roots, resolvedPath } from '../pods/pod-path.ts';
import { blockedThreads } from './blocked-threads.ts';
import { type BusyLoop, syncLoopIn } from './sync-loop.ts';

/** A thread of the kubelet that is blocked in a system call, with its Go stack. */
export interface BlockedStack {
  readonly pid: number;
  readonly tid: number;
  readonly state: string;
  readonly waitsIn: string;
  /** newfstatat, unlinkat...; a number if the call has no name here. */
  readonly call: string;
  /** As in the mount table; null if unknown. */
  readonly path: string | null;
  /** The pod whose directory contains the path. */
  readonly podUid?: string;
  /** The time between two observations of the same call; 0 if the call was observed once. */
  readonly waitedMs: number;
  /** Its stack in the format of a goroutine dump. */
  readonly stack: GoroutineGroup;
  /** Why the stack ends before the first function of the goroutine. */
  readonly brokenBy?: string;
  readonly origin: FileOrigin;
}

export interface ThreadStacks {
  readonly threads: readonly BlockedStack[];
  readonly origin: FileOrigin;
}

/**
 * What the kubelet waits for, without a credential and without asking the kubelet. The kernel shows
 * which threads are in a system call, and their memory shows the functions. Goroutines that wait on
 * a lock or a channel have no thread, so they are not seen.
 */
export const threadStacks = defineEvidence<ThreadStacks>({
  id: 'thread-stacks',
  title: 'Stacks of the threads of the kubelet that are blocked in a system call',
  collect: async (snapshot) => {
    const here = await snapshot.of(kubelet);
    if (!here.process) {
      throw new ReadError('missing', 'the kubelet', 'it does not run, so it has no threads');
    }
    const { pid } = here.process;
    const stacks = await snapshot.node.ask('stacks', { stacksOf: pid });
    const threads = stacks.map((stack) => blockedStack(stack, here, pid));
    return { threads, origin: { file: `/proc/${pid}/task` } };
  },
});

function blockedStack(thread: ThreadStack, roots: Roots, pid: number): BlockedStack {
  const { tid, state, waitsIn, systemCall, callName, path, waitedMs, brokenBy } = thread;
  return defined({
    pid,
    tid,
    state,
    waitsIn,
    call: callName ?? (systemCall === null ? 'page fault' : `system call ${systemCall}`),
    path: path === null ? null : resolvedPath(path, roots),
    podUid: path === null ? undefined : podPathOf(path, roots)?.podUid,
    waitedMs,
    stack: {
      count: 1,
      state: 'syscall',
      minutes: null,
      ids: [],
      isLocked: false,
      frames: thread.frames.map((frame) => ({
        function: plainFunction(frame.function),
        rawFunction: frame.function,
        file: null,
        line: null,
      })),
      isHeadless: false,
      isCut: brokenBy !== undefined,
    },
    brokenBy,
    origin: { file: `/proc/${pid}/task/${tid}` },
  });
}

/**
 * What the sync loop does on this thread. Undefined if it is another thread, or if the call has
 * only just begun: a healthy kubelet makes such calls all the time.
 */
export function loopOn({ stack, waitedMs }: BlockedStack): BusyLoop | undefined {
  if (waitedMs === 0) return undefined;
  const dump = { format: 'each', total: 1, groups: [stack], left: 0, isCut: false } as const;
  const loop = syncLoopIn(dump);
  return loop.state === 'busy' || loop.state === 'blocked' ? loop : undefined;
}

/**
 * The thread that is blocked below this pod's directory in the cleanup of orphaned pods. The
 * kubelet goes there only for a pod that none of its sources knows, after all of them have
 * reported. So this proves that the pod is gone. It says nothing about any other pod.
 */
export async function cleaningThread(
  podUid: string,
  snapshot: Snapshot,
): Promise<BlockedStack | undefined> {
  // A cheap question first: without a blocked thread, the stacks are not needed.
  const waiting = await attempt(snapshot.of(blockedThreads));
  const isThere = waiting.known && waiting.value.threads.some((each) => each.podUid === podUid);
  const stacks = isThere ? await attempt(snapshot.of(threadStacks)) : undefined;
  if (!stacks?.known) return undefined;
  return stacks.value.threads.find(
    (each) =>
      each.podUid === podUid &&
      each.brokenBy === undefined &&
      loopOn(each)?.isAmongOrphans === true,
  );
}
