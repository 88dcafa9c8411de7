import { defined } from '../../../lib/std/defined.ts';
import { attempt, defineEvidence, type Snapshot } from '../../model/evidence.ts';
import type { ProcessEntry } from '../../model/node-reader.ts';
import { kubelet } from '../kubelet/kubelet.ts';
import {
  MOUNT_NAMESPACES_AT_ONCE_MAX,
  MOUNT_NAMESPACES_MAX,
  NAMESPACE_MOUNTS_MAX,
  ROOTS_ASKED_MAX,
} from '../limits.ts';
import { podOfCgroup } from '../pods/pod-of-cgroup.ts';
import { processes } from '../processes/processes.ts';
import { unlessMissing } from '../text/file-path.ts';
import { type LeftReaders, leftReaders, unknownMessage } from './left-readers.ts';
import { hasConsistentTables, type MountTable, readMountTable } from './mount-table.ts';

/** One mount namespace, as one of its processes sees it. */
export interface MountNamespace {
  /** "mnt:[4026531841]" */
  readonly namespace: string;
  readonly pid: number;
  readonly processName: string;
  readonly cgroups: readonly string[];
  /** The pod of that process, from its cgroup. */
  readonly podUid?: string;
  /** All processes in the namespace. */
  readonly pids: readonly number[];
  /** The root of that process in the namespace. The targets in the table are relative to it. */
  readonly root: string;
  readonly table: MountTable;
}

/** The mounts of every namespace: a mount that is gone in one can still exist in another. */
export interface MountNamespaces {
  readonly namespaces: readonly MountNamespace[];
  /** Namespaces, or parts of them, that could not be read. Empty if these are all. */
  readonly notSeen: readonly string[];
}

export const mountNamespaces = defineEvidence<MountNamespaces>({
  id: 'mount-namespaces',
  title: 'Mounts of all namespaces',
  collect: async (snapshot) => {
    const [{ process }, every, isConsistent, left] = await Promise.all([
      snapshot.of(kubelet),
      snapshot.of(processes),
      hasConsistentTables(snapshot),
      snapshot.of(leftReaders),
    ]);
    // These readers were killed, so a namespace with only them has no live process.
    const gone = new Set(left.readers.map(({ pid }) => pid));
    const all = every.filter(({ pid }) => !gone.has(pid));
    const groups = [...inhabitants(all, process?.pid)];
    const seen: (Seen | undefined)[] = [];
    let mountsLeft = NAMESPACE_MOUNTS_MAX;
    for (let start = 0; start < groups.length; start += MOUNT_NAMESPACES_AT_ONCE_MAX) {
      const some = groups.slice(start, start + MOUNT_NAMESPACES_AT_ONCE_MAX);
      if (start >= MOUNT_NAMESPACES_MAX || mountsLeft < 0) {
        const why = `${groups.length - start} mount namespaces beyond the limit were not read`;
        seen.push({ notSeen: why });
        break;
      }
      const read = await Promise.all(
        some.map((group) => readNamespace(snapshot, group, isConsistent, left)),
      );
      seen.push(...read);
      for (const each of read) mountsLeft -= each?.namespace?.table.mounts.length ?? 0;
    }
    const namespaces = seen.flatMap((each) => each?.namespace ?? []);
    const notSeen = seen.flatMap((each) => each?.notSeen ?? []);
    return {
      namespaces,
      notSeen: [...hidden(all), ...notSeen, ...pinned(namespaces, new Map(groups))],
    };
  },
});

interface Seen {
  readonly namespace?: MountNamespace;
  readonly notSeen?: string;
}

/** The processes of each namespace: the kubelet, then the oldest, because they live longest. */
function inhabitants(
  all: readonly ProcessEntry[],
  kubeletPid: number | undefined,
): ReadonlyMap<string, readonly ProcessEntry[]> {
  const rank = ({ pid }: ProcessEntry) => (pid === kubeletPid ? 0 : pid);
  const seen = all.filter(({ mountNamespace }) => mountNamespace !== null);
  const sorted = seen.toSorted((left, right) => rank(left) - rank(right));
  return Map.groupBy(sorted, ({ mountNamespace }) => mountNamespace ?? '');
}

/**
 * Undefined if all its processes have exited, and so the namespace is gone. A process in a chroot
 * only sees the mounts below its root, so a process without one is preferred.
 */
async function readNamespace(
  snapshot: Snapshot,
  [namespace, inside]: readonly [string, readonly ProcessEntry[]],
  isConsistent: boolean,
  left: LeftReaders,
): Promise<Seen | undefined> {
  let narrow: Seen | undefined;
  let why: string | undefined;
  for (const process of inside.slice(0, ROOTS_ASKED_MAX)) {
    const read = await attempt(readThrough(snapshot, process, isConsistent));
    if (!read.known) {
      why ??= `${read.why}${unknownMessage(process.pid, left.unknowns.get(process.pid))}`;
      continue;
    }
    if (read.value === undefined) continue;
    const { root, table } = read.value;
    const { pid, name, cgroups } = process;
    const seen: MountNamespace = defined({
      ...{ namespace, pid, processName: name, cgroups, root, table },
      podUid: podOfCgroup(cgroups),
      pids: inside.map((one) => one.pid),
    });
    if (root === '/') return { namespace: seen };
    const part = `${namespace}: ${name} (pid ${pid}) sees only what lies below its root ${root}`;
    narrow ??= {
      namespace: seen,
      notSeen: `${part}${unknownMessage(pid, left.unknowns.get(pid))}`,
    };
  }
  if (narrow) return narrow;
  return why === undefined ? undefined : { notSeen: `${namespace}: ${why}` };
}

async function readThrough(
  snapshot: Snapshot,
  { pid, thread = pid }: ProcessEntry,
  isConsistent: boolean,
): Promise<{ readonly root: string; readonly table: MountTable } | undefined> {
  const [root, table] = await Promise.all([
    unlessMissing(snapshot.node.ask('link', { path: `/proc/${thread}/root` })),
    unlessMissing(readMountTable(snapshot, thread, isConsistent)),
  ]);
  return root === undefined || table === undefined ? undefined : { root, table };
}

function hidden(all: readonly ProcessEntry[]): readonly string[] {
  const count = all.filter(({ mountNamespace }) => mountNamespace === null).length;
  return count === 0 ? [] : [`the mount namespaces of ${count} processes may not be seen by us`];
}

/** Namespaces that only a bind mount holds: no process shows their mounts. */
function pinned(
  namespaces: readonly MountNamespace[],
  inhabited: ReadonlyMap<string, unknown>,
): readonly string[] {
  const found = new Map<string, string>();
  for (const { table } of namespaces) {
    for (const { fsType, root, target } of table.mounts) {
      // mnt:[4026532008]
      if (fsType !== 'nsfs' || !root.startsWith('mnt:[') || inhabited.has(root)) continue;
      if (!found.has(root)) found.set(root, target);
    }
  }
  return [...found].map(([root, target]) => `${root}: no process lives in it; ${target} holds it`);
}
