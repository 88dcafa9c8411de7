import { getSystemErrorName } from 'node:util';
import { podOfCgroup } from '../evidence/pods/pod-of-cgroup.ts';
import { attempt } from '../model/evidence.ts';
import type { NodeReader } from '../model/node-reader.ts';
import { cgroupsIn } from '../reader/answer-processes.ts';
import type { TracerStop } from './bpftrace-line.ts';
import { WAITING_MAX } from './limits.ts';
import { type StackFrame, StackNamer } from './name-stack.ts';
import { type NodePath, NodePaths, nodeViewOf } from './node-path.ts';
import { startTracer, type TracerEvents, type TracerOptions } from './start-tracer.ts';
import type { TracedCall } from './traced-call.ts';
import { isWatched, type Watched } from './watched.ts';

export interface DeletionTraceOptions extends TracerOptions {
  readonly watched: readonly Watched[];
  /** Deletions to report; then it ends. */
  readonly linesMax: number;
  readonly hostRoot: string;
}

/** Something that was deleted, moved away or replaced, or was to be. */
export interface Deletion {
  readonly time: Date;
  readonly call: string;
  /** As the caller gave it to the kernel. */
  readonly name: string;
  /** As the node sees it. */
  readonly path: string;
  /** As the caller sees it, when it lives in a mount namespace of its own. */
  readonly seenAs: string | null;
  /** The other side of a renaming; null where the node has no such path. */
  readonly renamedTo: string | null;
  readonly kind: 'deleted' | 'moved-away' | 'replaced';
  /** "done", or an error as the kernel names it; "unknown" when the answer was lost. */
  readonly result: string;
  readonly process: DeletingProcess;
  readonly stack: readonly StackFrame[];
}

export interface DeletingProcess {
  readonly pid: number;
  readonly name: string;
  readonly executable: string | null;
  readonly cgroups: readonly string[];
  /** The uid of its pod. */
  readonly pod: string | null;
  /** It had ended when its directory in /proc was read. */
  readonly isGone: boolean;
}

export interface TraceEvents extends Omit<TracerEvents, 'onCall'> {
  readonly onDeletion: (deletion: Deletion) => void;
}

export type TraceEnd =
  | ({ readonly ended: 'time' | 'lines' | 'stopped' } & TraceCounts)
  | ({ readonly ended: 'failure' } & TracerStop);

export interface TraceCounts {
  /** Calls of the whole machine that were seen. */
  readonly calls: number;
  /** Calls, or parts of them, that bpftrace or we could not keep up with. */
  readonly lost: number;
  /** The watch ended before everything that was seen could be reported. */
  readonly isBehind: boolean;
  /** Calls whose path could not be found out, because the process was gone or the name too long. */
  readonly unresolved: number;
}

/** Watches for a while who deletes. Rejects only with a ReadError: the node has no root for us. */
export async function traceDeletions(
  node: NodeReader,
  options: DeletionTraceOptions,
  events: TraceEvents,
  stop: AbortSignal,
): Promise<TraceEnd> {
  const paths = new NodePaths(node, await nodeViewOf(node, options.hostRoot));
  const namer = new StackNamer(options.own('symbols'), options.hostRoot);
  const counts = { calls: 0, lost: 0, unresolved: 0 };
  const lines = new AbortController();
  let reported = 0;
  let waiting = 0;
  let turn = Promise.resolve();
  const reportInOrder = async (
    before: Promise<void>,
    job: Promise<Found>,
    { pid, addresses }: TracedCall,
    time: Date,
  ) => {
    await before;
    const found = await job;
    waiting -= 1;
    if (found === 'unresolved') counts.unresolved += 1;
    if (typeof found === 'string' || reported >= options.linesMax) return;
    reported += 1;
    const stack = await namer.name(pid, addresses, found.maps);
    events.onDeletion({ ...found.deletion, time, stack });
    if (reported >= options.linesMax) lines.abort();
  };
  const onCall = (call: TracedCall) => {
    counts.calls += 1;
    if (reported >= options.linesMax || isElsewhere(paths, call, options.watched)) return;
    if (waiting >= WAITING_MAX) {
      counts.lost += 1;
      return;
    }
    waiting += 1;
    const time = new Date();
    // Read at once, because the process may end in a moment; reported in the order of arrival.
    const job = deletionOf(call, options.watched, paths, node);
    turn = reportInOrder(turn, job, call, time);
  };
  const ended = await startTracer(
    options,
    { ...events, onCall },
    AbortSignal.any([stop, lines.signal]),
  );
  await turn;
  if ('failure' in ended) return { ended: 'failure', ...ended };
  const why = stop.aborted ? 'stopped' : lines.signal.aborted ? 'lines' : 'time';
  // The requested number is reached.
  const isBehind = ended.isBehind && why !== 'lines';
  return { ended: why, ...counts, lost: counts.lost + ended.lost, isBehind };
}

/** Known without a question to be none of ours, as for nearly every call on a node. */
function isElsewhere(paths: NodePaths, call: TracedCall, watched: readonly Watched[]): boolean {
  const names = call.to ? [call.from, call.to] : [call.from];
  return names.every((name) => {
    const found = paths.known(call, name);
    return found?.known && !isWatched(watched, found.path, { isRename: call.to !== undefined });
  });
}

type Found =
  | 'elsewhere'
  | 'unresolved'
  | {
      readonly deletion: Omit<Deletion, 'time' | 'stack'>;
      readonly maps: string | undefined;
    };

async function deletionOf(
  call: TracedCall,
  watched: readonly Watched[],
  paths: NodePaths,
  node: NodeReader,
): Promise<Found> {
  const [from, to, { process, maps }] = await Promise.all([
    paths.find(call, call.from),
    call.to && paths.find(call, call.to),
    factsOf(node, call),
  ]);
  const isRename = call.to !== undefined;
  const isOurs = (found: NodePath | undefined) =>
    found?.known === true && isWatched(watched, found.path, { isRename });
  const isGoing = isOurs(from);
  const hit = isGoing ? from : to;
  if (!isGoing && !isOurs(to)) {
    const isUnclear = [from, to].some((one) => one && !one.known && one.why !== 'elsewhere');
    return isUnclear ? 'unresolved' : 'elsewhere';
  }
  if (!hit?.known) return 'unresolved';
  const other = isGoing ? to : from;
  return {
    deletion: {
      call: call.call,
      name: (isGoing ? call.from : (call.to ?? call.from)).name,
      path: hit.path,
      seenAs: hit.seen === hit.path ? null : hit.seen,
      renamedTo: isRename && isGoing ? pathOf(other) : null,
      kind: isRename ? (isGoing ? 'moved-away' : 'replaced') : 'deleted',
      result: resultOf(call.returned),
      process,
    },
    maps,
  };
}

function pathOf(found: NodePath | undefined): string | null {
  if (!found) return null;
  return found.known ? found.path : (found.seen ?? null);
}

function resultOf(returned: number | undefined): string {
  if (returned === undefined) return 'unknown';
  return returned === 0 ? 'done' : getSystemErrorName(returned);
}

async function factsOf(node: NodeReader, { pid, processName }: TracedCall) {
  const [executable, cgroup, maps] = await Promise.all([
    attempt(node.ask('link', { path: `/proc/${pid}/exe` })),
    attempt(node.ask('file', { path: `/proc/${pid}/cgroup` })),
    attempt(node.ask('file', { path: `/proc/${pid}/maps` })),
  ]);
  const cgroups = cgroup.known ? cgroupsIn(cgroup.value) : [];
  return {
    process: {
      pid,
      name: processName,
      executable: executable.known ? executable.value : null,
      cgroups,
      pod: podOfCgroup(cgroups) ?? null,
      isGone: !cgroup.known,
    },
    maps: maps.known ? maps.value : undefined,
  };
}
