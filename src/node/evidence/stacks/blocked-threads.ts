import { isObject } from '../../../lib/std/json.ts';
import {
  defineEvidence,
  type EvidenceOption,
  optionValue,
  type Snapshot,
} from '../../model/evidence.ts';
import { ReadError } from '../../model/node-reader.ts';
import type { FileOrigin } from '../../model/origin.ts';
import { kubelet } from '../kubelet/kubelet.ts';
import { podPathOf, resolvedPath } from '../pods/pod-path.ts';

/** A thread of the kubelet in a system call on a path of a pod. */
export interface BlockedThread {
  readonly tid: number;
  /** One letter. A wait for a FUSE server shows S until a signal arrives, and D after that. */
  readonly state: string;
  /** newfstatat, statx, unlinkat... */
  readonly call: string;
  /** The kernel function it sleeps in: request_wait_answer, rpc_wait_bit_killable... */
  readonly waitsIn: string;
  /** As in the mount table. */
  readonly path: string;
  readonly podUid: string;
  /** Identifies this call: a later check with the same id sees the same wait. */
  readonly waitId: string;
  /** For how long earlier checks have seen this call, so it has waited at least this long. */
  readonly seenFor?: { readonly ms: number; readonly since: Date };
  /** Everything in one line, as a user would copy it from /proc. */
  readonly text: string;
  readonly origin: FileOrigin;
}

export interface BlockedThreads {
  readonly threads: readonly BlockedThread[];
  /** Threads in such a call whose path could not be read. */
  readonly unreadable: number;
  readonly origin: FileOrigin;
}

/**
 * For how long earlier checks have seen blocked calls of the kubelet, in milliseconds. A watch sets
 * it, so that a check, or its replay, knows how long they last.
 */
export const seenWaits: EvidenceOption<Readonly<Record<string, number>>> = {
  name: 'waitedMs',
  read: (value) => (isDurations(value) ? value : undefined),
};

function isDurations(value: unknown): value is Readonly<Record<string, number>> {
  return (
    isObject(value) && Object.values(value).every((ms) => Number.isFinite(ms) && Number(ms) >= 0)
  );
}

/**
 * Needs no credential: the kernel shows the call, and the memory of the kubelet the path. One
 * observation proves no hang, because a healthy kubelet makes such calls all the time. The same
 * call minutes later does.
 */
export const blockedThreads = defineEvidence<BlockedThreads>({
  id: 'blocked-threads',
  title: 'Threads of the kubelet that wait on a path of a pod',
  collect: async (snapshot) => {
    const here = await snapshot.of(kubelet);
    if (!here.process) {
      throw new ReadError('missing', 'the kubelet', 'it does not run, so it has no threads');
    }
    const { pid, startTime } = here.process;
    const origin = { file: `/proc/${pid}/task` };
    const threads = await snapshot.node.ask('threads', { threadsOf: pid });
    const waiting = threads.filter(({ callName, state }) => callName !== null && state !== 'R');
    return {
      threads: waiting.flatMap((thread) => {
        const { tid, state, callName: call, callLine, waitsIn, path, systemCall } = thread;
        const podUid = path === null ? undefined : podPathOf(path, here)?.podUid;
        if (path === null || call === null || podUid === undefined) return [];
        // The call line has the addresses of the arguments; older recordings lack it.
        const waitId = `${pid}/${startTime} ${tid} ${callLine ?? systemCall} ${path}`;
        const text = `${call} (${systemCall}) ${path}, wchan ${waitsIn || '?'}, state ${state}`;
        return [
          {
            ...{ tid, state, call, waitsIn, podUid, waitId, text },
            path: resolvedPath(path, here),
            ...seenFor(snapshot, waitId),
            origin: { file: `${origin.file}/${tid}` },
          },
        ];
      }),
      unreadable: waiting.filter(({ path }) => path === null).length,
      origin,
    };
  },
});

function seenFor({ node, settings }: Snapshot, waitId: string): Pick<BlockedThread, 'seenFor'> {
  const ms = optionValue(seenWaits, settings)?.[waitId];
  if (ms === undefined) return {};
  return { seenFor: { ms, since: new Date(node.now().getTime() - ms) } };
}
