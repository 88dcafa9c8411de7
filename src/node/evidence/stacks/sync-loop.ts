import type { Frame, GoroutineDump, GoroutineGroup } from '../../../lib/go/goroutine-dump.ts';
import { holderOf, isLocked, type LockHolder } from '../processes/lock-holder.ts';
import type { FrameRow } from './frame-table.ts';
import { callsOf, isOneOf, matchesOf } from './stack-match.ts';

/**
 * The state of the goroutine on which a kubelet handles its pods. unknown: it is not in the dump,
 * or the dump is truncated. twice: a known defect of the kubelet, issue 88779.
 */
export type SyncLoop =
  | { readonly state: 'healthy'; readonly id: number | null }
  | { readonly state: 'backing-off'; readonly id: number | null; readonly minutes: number | null }
  | BusyLoop
  | { readonly state: 'twice'; readonly ids: readonly number[] }
  | { readonly state: 'unknown'; readonly why: string };

/** blocked: for a minute or more. busy: for less, or the dump shows no times. */
export interface BusyLoop {
  readonly state: 'blocked' | 'busy';
  readonly id: number | null;
  /** null if the dump shows no times; 0 for less than a minute. */
  readonly minutes: number | null;
  /** The handler that the loop called: "HandlePodCleanups"; null if that part is missing. */
  readonly branch: string | null;
  /** The innermost call. */
  readonly leaf: Frame;
  readonly waitsFor: WaitsFor;
  /** The row of the frame table; for a lock, that of its holder. null: cause unknown. */
  readonly row: FrameRow | null;
  readonly holder?: LockHolder;
  /** The loop cleans up orphaned pods, where dead mounts block it. */
  readonly isAmongOrphans: boolean;
  /** From the innermost call to the loop. */
  readonly frames: readonly Frame[];
}

/** path: the call takes a path. file: it reads or writes an open file. */
export type WaitsFor = 'path' | 'file' | 'lock' | 'network' | 'child' | 'other';

const LOOP = ['pkg/kubelet.(*Kubelet).syncLoop'];
const ITERATION = ['pkg/kubelet.(*Kubelet).syncLoopIteration'];
/** Only the loop calls these functions. They identify it if a dump shows no more than 32 calls. */
const HANDLERS = [
  'HandlePodCleanups',
  'HandlePodAdditions',
  'HandlePodUpdates',
  'HandlePodRemoves',
  'HandlePodReconcile',
  'HandlePodSyncs',
].map((name) => `pkg/kubelet.(*Kubelet).${name}`);
const ORPHANS = ['pkg/kubelet.(*Kubelet).cleanupOrphanedPodDirs'];

const FILE_CALLS = ['syscall.*', 'golang.org/x/sys/unix.*', 'os.*'];
/** Those of these calls that use an open file. Listing a directory counts as a path call. */
const OPEN_FILE_CALLS = [
  ...['Write', 'Read', 'Pwrite', 'Pread', 'Fsync', 'Fdatasync', 'write', 'read', 'fsync'].flatMap(
    (name) => [`syscall.${name}`, `golang.org/x/sys/unix.${name}`],
  ),
  ...['Write', 'write', 'WriteString', 'Read', 'read', 'Sync'].map((name) => `os.(*File).${name}`),
];
const NETWORK_CALLS = ['google.golang.org/grpc*', 'net/http*', 'golang.org/x/net/http2*', 'net.*'];
const CHILD_CALLS = ['os/exec.*', 'os.(*Process).*'];

export function syncLoopIn(dump: GoroutineDump): SyncLoop {
  const loops = dump.groups.filter(hasSyncLoop);
  const [loop] = loops.toSorted((left, right) => (right.minutes ?? 0) - (left.minutes ?? 0));
  if (!loop) return { state: 'unknown', why: whyMissing(dump) };
  const ids = [...new Set(loops.flatMap((group) => group.ids))];
  if (ids.length > 1 || (ids.length === 0 && loops.some(({ count }) => count > 1))) {
    return { state: 'twice', ids };
  }
  const seen = loopOf(loop, dump);
  if (dump.isCut && seen.state !== 'blocked' && seen.state !== 'busy') {
    return { state: 'unknown', why: `${CUT}; as far as it goes, the sync loop is ${seen.state}` };
  }
  return seen;
}

const CUT = 'the dump is cut';

function whyMissing({ format, isCut, left, groups }: GoroutineDump): string {
  if (format === 'none') return 'there is no goroutine dump in it';
  const isKubelet = groups.some(({ frames }) =>
    frames.some((frame) => frame.rawFunction.includes('k8s.io/kubernetes/')),
  );
  if (!isKubelet && left === 0) {
    return isCut
      ? `${CUT}, and nothing of a kubelet is in what is left of it: perhaps another program's`
      : "no sync loop in it: not a kubelet's dump";
  }
  if (isCut) return `${CUT}, and the sync loop is not in what is left of it`;
  if (left > 0) return `${left} goroutines had too many different stacks to be checked`;
  return 'the sync loop is not in the dump: this kubelet has not begun with it, or has left it';
}

export function hasSyncLoop({ frames }: Pick<GoroutineGroup, 'frames'>): boolean {
  return frames.some(
    // Goroutines that the loop started are not the loop.
    (frame) => !frame.rawFunction.includes('.func') && isOneOf(frame.function, LOOP_OR_HANDLERS),
  );
}

const LOOP_OR_HANDLERS = [...LOOP, ...ITERATION, ...HANDLERS];

function loopOf(group: GoroutineGroup, dump: GoroutineDump): SyncLoop {
  const { state, minutes } = group;
  const id = group.ids[0] ?? null;
  const calls = callsOf(group);
  const [leaf, second] = calls;
  if (!leaf || group.isHeadless) {
    return { state: 'unknown', why: 'the innermost calls of the sync loop are missing' };
  }
  if (leaf.function === 'time.Sleep' && second && isOneOf(second.function, LOOP)) {
    return { state: 'backing-off', id, minutes };
  }
  const isWaiting = state === null || AT_EASE.has(state);
  // A ticker wakes the loop every second.
  if (isWaiting && isOneOf(leaf.function, ITERATION) && !minutes) return { state: 'healthy', id };
  return busyLoop(group, calls, leaf, dump);
}

/** The states of a loop that waits for its next event, or is just waking up. */
const AT_EASE: ReadonlySet<string> = new Set(['select', 'runnable', 'running']);

function busyLoop(
  group: GoroutineGroup,
  calls: readonly Frame[],
  leaf: Frame,
  dump: GoroutineDump,
): BusyLoop {
  const { minutes } = group;
  const holder = isLocked(group) ? holderOf(group, dump) : undefined;
  const own = matchesOf(group)[0]?.row;
  const end = calls.findIndex(({ function: name }) => isOneOf(name, LOOP));
  return {
    state: minutes !== null && minutes > 0 ? 'blocked' : 'busy',
    id: group.ids[0] ?? null,
    minutes,
    branch: branchOf(calls),
    leaf,
    waitsFor: waitOf(group, calls),
    row: holder?.row ?? own ?? null,
    ...(holder ? { holder } : {}),
    isAmongOrphans: calls.some(({ function: name }) => isOneOf(name, ORPHANS)),
    frames: end < 0 ? calls : calls.slice(0, end + 1),
  };
}

/** The function that the loop itself called. */
function branchOf(calls: readonly Frame[]): string | null {
  const iteration = calls.findIndex(({ function: name }) => isOneOf(name, ITERATION));
  const created =
    iteration > 0
      ? calls[iteration - 1]
      : calls.find(({ function: name }) => isOneOf(name, HANDLERS));
  // k8s.io/kubernetes/pkg/kubelet.(*Kubelet).HandlePodCleanups
  return created ? created.function.slice(created.function.lastIndexOf('.') + 1) : null;
}

function waitOf(group: GoroutineGroup, calls: readonly Frame[]): WaitsFor {
  if (isLocked(group)) return 'lock';
  const outer = calls.findIndex(({ function: name }) => name.includes('/pkg/kubelet'));
  const inner = calls.slice(0, outer < 0 ? calls.length : outer);
  const has = (patterns: readonly string[]) =>
    inner.some(({ function: name }) => isOneOf(name, patterns));
  if (has(CHILD_CALLS)) return 'child';
  if (has(NETWORK_CALLS)) return 'network';
  if (has(OPEN_FILE_CALLS)) return 'file';
  return has(FILE_CALLS) ? 'path' : 'other';
}
