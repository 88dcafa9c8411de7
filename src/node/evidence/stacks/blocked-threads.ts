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

/** A thread of the kubelet that is in the middle of a call on a path of a pod. */
export interface BlockedThread {
  readonly tid: number;
  /** One letter. A wait on a FUSE server shows S until a signal comes, and D after it. */
  readonly state: string;
  /** newfstatat, statx, unlinkat... */
  readonly call: string;
  /** The kernel function it sleeps in: request_wait_answer, rpc_wait_bit_killable... */
  readonly waitsIn: string;
  /** As the mount table names it. */
  readonly path: string;
  readonly podUid: string;
  /** Identifies this call: a check that sees it again sees the same wait. */
  readonly waitId: string;
  /** How long earlier looks have seen it by now: at least so long does it wait. */
  readonly seenFor?: { readonly ms: number; readonly since: Date };
  /** All of it in one line, as a person would copy it from /proc. */
  readonly text: string;
  readonly origin: FileOrigin;
}

export interface BlockedThreads {
  readonly threads: readonly BlockedThread[];
  /** Threads that are in such a call with a path that could not be read. */
  readonly unreadable: number;
  readonly origin: FileOrigin;
}

/**
 * How long earlier checks have seen calls of the kubelet that do not return, in milliseconds: a watch
 * adds it, so that a check, or its replay, knows how long they last.
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
 * Found without any credential: the kernel shows the call, the memory of the kubelet the path. One
 * sight of it proves no hang, for a healthy kubelet does such calls all the time; the sight of the
 * same call again, minutes later, does.
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
        // By the addresses of its arguments, which older recordings lack.
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
