import { shellCommand } from '../../lib/std/shell-command.ts';
import { kubelet } from '../evidence/kubelet/kubelet.ts';
import { mountShowing } from '../evidence/mounts/mount-places.ts';
import { type Mount, type MountTable, mountTable } from '../evidence/mounts/mount-table.ts';
import { unlessMissing } from '../evidence/text/file-path.ts';
import type { ManualSteps, Outcome } from '../model/action.ts';
import type { Snapshot } from '../model/evidence.ts';
import type { NodeReader } from '../model/node-reader.ts';
import {
  type ActionContext,
  type ActionFailure,
  CHECK_AGAIN,
  type Observation,
  refused,
  refusedIf,
} from './handler.ts';
import { PROCESSES_AT_ONCE_MAX } from './limits.ts';
import {
  FIRST_PROCESS,
  type MountPins,
  type NodeWriter,
  type ProcessPins,
  type WriteResult,
} from './node-writer.ts';

/** The root directory of the kubelet, and the mounts of its namespace. */
export interface KubeletMounts {
  readonly root: string;
  /** Whose mount namespace it is: the kubelet's, or that of the node's first process. */
  readonly process: ProcessPins;
  readonly table: MountTable;
}

export async function kubeletMounts(snapshot: Snapshot): Promise<KubeletMounts> {
  const [{ root, process = FIRST_PROCESS }, table] = await Promise.all([
    snapshot.of(kubelet),
    snapshot.of(mountTable),
  ]);
  return { root, process, table };
}

const PINS = ['id', 'parent', 'device', 'root', 'target', 'fsType', 'isDeleted'] as const;

export function isPinned(mount: Mount, pins: MountPins): boolean {
  return PINS.every((pin) => pins[pin] === undefined || pins[pin] === mount[pin]);
}

/** The mount that an unmount of this path would hit instead of the pinned one, or that covers it. */
export function otherMount(pins: MountPins, table: MountTable): Mount | undefined {
  const { id, parent, target } = pins;
  const pinned = table.mounts.find((mount) => isPinned(mount, pins));
  if (!pinned) return table.mounts.findLast((mount) => mount.target === target);
  const shown = mountShowing(target, table);
  if (shown && shown !== pinned) return shown;
  return table.mounts.find(
    (mount) =>
      mount.parent === id ||
      (mount !== pinned && mount.parent === parent && mount.target === target),
  );
}

/** Undefined when the path leads to the pinned mount, and nothing is mounted on it or in it. */
export function objectionTo(pins: MountPins, table: MountTable): Outcome | undefined {
  const isThere = table.mounts.some((mount) => isPinned(mount, pins));
  const other = otherMount(pins, table);
  if (!other) {
    const note = 'nothing to do: the mount is gone already';
    return isThere ? undefined : { state: 'done', note };
  }
  const why = `${table.origin.file} now shows ${table.lineText(other)}`;
  if (!isThere) {
    return refused('the mount changed since it was diagnosed', why, CHECK_AGAIN);
  }
  const todo = 'find out who made it and whether it is needed; unmount neither before you know';
  return refused('another mount lies over this one', why, todo);
}

/** What stands against any unmount at this path, whatever is mounted there. */
export async function pathObjection(
  target: string,
  process: ProcessPins,
  { snapshot, writer }: { readonly snapshot: Snapshot; readonly writer: NodeWriter },
  manual: ManualSteps,
): Promise<Outcome | undefined> {
  const todo = 'unmount it manually, or delete the pod';
  return (
    (await otherPath(target, process, snapshot)) ??
    (await unmountedByAnother(target, snapshot)) ??
    refusedIf(await writer.cannotUnmount(process), 'cannot unmount here', todo, manual)
  );
}

/** "/a" and "/a/b" of "/a/b/c". */
export function foldersAbove(path: string): readonly string[] {
  const names = path.split('/').slice(1, -1);
  return names.map((_, depth) => `/${names.slice(0, depth + 1).join('/')}`);
}

/** umount follows links, and starts at the root of the namespace, not at the kubelet's. */
export async function otherPath(
  target: string,
  { pid }: ProcessPins,
  { node }: Snapshot,
): Promise<Outcome | undefined> {
  const todo = 'find out who changed the path; unmount it manually, or delete the pod';
  const leadsElsewhere = (why: string) =>
    refused('the path of the mount leads elsewhere', why, todo);
  const view = `/proc/${pid}/root`;
  const itsRoot = await node.ask('link', { path: view });
  if (itsRoot !== '/') {
    return leadsElsewhere(`the kubelet's root directory is ${itsRoot} (${view})`);
  }
  for (const path of foldersAbove(target)) {
    const { type } = await node.ask('status', { path: `${view}${path}` });
    if (type !== 'folder') return leadsElsewhere(`${path} is a ${type}, not a directory`);
  }
  return undefined;
}

async function unmountedByAnother(
  target: string,
  snapshot: Snapshot,
): Promise<Outcome | undefined> {
  const pid = await unmountUnderWay(target, snapshot);
  if (pid === undefined) return undefined;
  const why = `process ${pid} unmounts it; a recovery that was killed leaves such a process behind`;
  const todo = 'wait until it has ended, then recover again';
  return refused('this mount is being unmounted already', why, todo);
}

/**
 * The process that unmounts this very target right now. A recovery that is killed leaves its umount
 * behind; should that come through later, it would take away what was mounted there meanwhile.
 */
async function unmountUnderWay(target: string, { node }: Snapshot): Promise<number | undefined> {
  const names = await node.ask('folder', { path: '/proc' });
  // 812
  const pids = names.filter((name) => /^\d+$/.test(name));
  for (let start = 0; start < pids.length; start += PROCESSES_AT_ONCE_MAX) {
    const some = pids.slice(start, start + PROCESSES_AT_ONCE_MAX);
    const asked = await Promise.all(some.map((pid) => isUnmounting(`/proc/${pid}`, target, node)));
    const at = asked.indexOf(true);
    if (at >= 0) return Number(some[at]);
  }
  return undefined;
}

async function isUnmounting(process: string, target: string, node: NodeReader): Promise<boolean> {
  // A process that has ended meanwhile unmounts nothing.
  const textOf = async (name: string) =>
    (await unlessMissing(node.ask('file', { path: `${process}/${name}` }))) ?? '';
  // It is nsenter at first, where the kubelet has mounts of its own.
  if (!['umount', 'nsenter'].includes((await textOf('comm')).trim())) return false;
  // Uid:	0	0	0	0
  const isRoots = /^Uid:\s+0\s+0\s/m.test(await textOf('status'));
  // umount, --no-canonicalize, /proc/self/fd/4/var/lib/kubelet/pods/...
  const paths = (await textOf('cmdline'))
    .split('\0')
    .map((word) => word.replace(/^\/proc\/self\/fd\/\d+(?=\/)/, ''));
  return isRoots && paths.includes(target);
}

/** Undefined once the pinned mount is gone. */
export async function stillMounted(
  pins: MountPins,
  snapshot: Snapshot,
): Promise<Observation | undefined> {
  // Before the table is read: one that ends in between has unmounted it, and the table shows that.
  const pid = await unmountUnderWay(pins.target, snapshot);
  const { table } = await kubeletMounts(snapshot);
  if (!table.mounts.some((mount) => isPinned(mount, pins))) return undefined;
  const underWay = pid === undefined ? {} : { underWay: `process ${pid} still unmounts it` };
  return { isDone: false, seen: 'the mount is still there', ...underWay };
}

export function inMountNamespace({ pid }: ProcessPins, ...args: readonly string[]): string {
  return shellCommand(['nsenter', '--target', String(pid), '--mount', '--', ...args]);
}

/** What an unmount that did not succeed means for the outcome of its action. */
export function unmountFailure(
  result: WriteResult,
  manual: ManualSteps,
  note: ActionContext['note'],
): ActionFailure | undefined {
  if (result.state === 'did') {
    if (result.note !== undefined) note?.(result.note);
    return undefined;
  }
  const { why } = result;
  switch (result.state) {
    case 'changed':
      return { what: result.what, why, todo: CHECK_AGAIN, stays: 'refused' };
    case 'hit-another': {
      const what = 'another mount was unmounted than the one that was diagnosed';
      const todo = 'restart the container that uses this path: the kubelet then mounts it again';
      return { what, why, todo, stays: 'failed' };
    }
    case 'unending': {
      const what = 'the unmount does not come to an end';
      return { what, why, todo: CHECK_AGAIN, manual, isUnending: true };
    }
    default:
      return { what: 'the unmount failed', why, todo: CHECK_AGAIN, manual };
  }
}
