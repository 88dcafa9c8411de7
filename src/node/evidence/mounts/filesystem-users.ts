import { attempt, type Snapshot } from '../../model/evidence.ts';
import { originText } from '../../model/origin.ts';
import { kubelet } from '../kubelet/kubelet.ts';
import { LOOP_DEVICES_MAX } from '../limits.ts';
import { isNamed } from '../pods/orphan-messages.ts';
import { orphanPods } from '../pods/orphan-pods.ts';
import { isWithin, unlessMissing } from '../text/file-path.ts';
import { unknownUse } from './left-readers.ts';
import { type MountNamespaces, mountNamespaces } from './mount-namespaces.ts';
import { mountShowing, type PlacedMount } from './mount-places.ts';
import { readMountTable } from './mount-table.ts';
import { type HeldMount, openMounts, storedNamespaces } from './open-mounts.ts';
import { isSuspectType } from './suspect-mounts.ts';

/** What prevents a forced unmount: a user of the filesystem, or a failed read. */
export interface User {
  readonly what: string;
  readonly why: string;
  /** A pod that the user must name, because it is not proven to be gone. */
  readonly mustName?: string;
}

/** The filesystem, the pod whose mount is force-unmounted, and the pods that the user named. */
interface Forced {
  readonly device: string;
  readonly podUid: string;
  readonly confirmed?: string;
}

/** The device of the filesystem by mount id: "254:1". */
export type MountDevices = ReadonlyMap<number, string>;

/**
 * A forced unmount aborts every request to the filesystem, through any of its mounts. So nothing
 * may use any of them: no live pod, no process, no loop device or swap file on it. `ownMounts` are
 * the mounts of our own input and output, which no table may show.
 */
export async function filesystemUser(
  { device, podUid, confirmed }: Forced,
  snapshot: Snapshot,
  ownMounts: MountDevices = new Map(),
): Promise<User | undefined> {
  const seen = await snapshot.of(mountNamespaces);
  const [unseen] = [...seen.notSeen, ...(await storedNamespaces(snapshot))];
  if (unseen !== undefined) {
    return { what: 'not every mount of the node can be seen', why: unseen };
  }
  const copies = copiesOf(device, seen);
  return (
    (await livePod(copies, snapshot, (uid) => uid === podUid || isNamed(uid, confirmed))) ??
    (await holder(device, copies, snapshot, ownMounts)) ??
    overlay(copies, seen) ??
    (await backing(copies, snapshot))
  );
}

export function copiesOf(device: string, { namespaces }: MountNamespaces): readonly PlacedMount[] {
  return namespaces.flatMap((namespace) =>
    namespace.table.mounts
      .filter((mount) => mount.device === device)
      .map((mount) => ({ mount, namespace })),
  );
}

export function whereIs({ mount, namespace }: PlacedMount): string {
  return `${mount.target} in the mounts of ${namespace.processName} (pid ${namespace.pid})`;
}

/**
 * Every mount of the filesystem must be of an orphaned pod, or the global mount that such pods
 * share.
 */
async function livePod(
  copies: readonly PlacedMount[],
  snapshot: Snapshot,
  isSettled: (podUid: string) => boolean,
): Promise<User | undefined> {
  const [{ root }, { lifeOf }] = await Promise.all([snapshot.of(kubelet), snapshot.of(orphanPods)]);
  for (const copy of copies) {
    const { target } = copy.mount;
    // A namespace that has the node's root at /host has the mount below it.
    const at = target.indexOf(`${root}/`);
    const below = at < 0 ? '' : target.slice(at + root.length);
    if (below.startsWith('/plugins/')) continue;
    // /pods/29da79e5-386c-4e0d-82c1-215f93ff955d/volumes/kubernetes.io~csi/pvc-1/mount
    const podUid = /^\/pods\/([^/]+)\/./.exec(below)?.[1];
    if (podUid === undefined) {
      const owner = copy.namespace.podUid;
      const why = `it is mounted as ${whereIs(copy)}${owner ? `, of pod ${owner}` : ''}`;
      return { what: 'somebody else has this filesystem mounted', why };
    }
    const life = await lifeOf(podUid);
    if (life.state === 'live') {
      const why = `pod ${podUid} lives (${life.by}, ${originText(life.origin)}), with ${whereIs(copy)}`;
      return { what: 'a pod that lives has this filesystem mounted', why };
    }
    if (life.state === 'uncertain') {
      const why = `whether pod ${podUid} lives is not known: ${life.why}`;
      return { what: 'a pod that may live has this filesystem mounted', why };
    }
    // The confirmation for this pod says nothing about other pods.
    if (life.needsConfirmation !== undefined && !isSettled(podUid)) {
      const what = `pod ${podUid} has this filesystem mounted too, and is not proven to be gone`;
      return { what, why: life.needsConfirmation, mustName: podUid };
    }
  }
  return undefined;
}

/** Reads links and never follows them, so the mount is not accessed. */
async function holder(
  device: string,
  copies: readonly PlacedMount[],
  snapshot: Snapshot,
  ownMounts: MountDevices,
): Promise<User | undefined> {
  const [{ held }, { namespaces }] = await Promise.all([
    snapshot.of(openMounts),
    snapshot.of(mountNamespaces),
  ]);
  const own = [...ownMounts].filter(([, its]) => its === device).map(([id]) => id);
  const ids = new Set([...copies.map(({ mount }) => mount.id), ...own]);
  const isOurs = ({ mount, device: its, path }: HeldMount['file']) => {
    // /data/app.log (deleted): the kernel marks an unlinked file.
    const clean = path.replace(/ \(deleted\)$/, '');
    const isBelow = copies.some((copy) => isWithin(clean, copy.mount.target));
    return its === undefined ? (mount !== undefined && ids.has(mount)) || isBelow : its === device;
  };
  for (const each of held.filter(({ file }) => isOurs(file))) {
    const unknown = await unknownUse(snapshot, each);
    if (!unknown) continue;
    const beside = own.includes(each.file.mount ?? -1) ? OWN_OUTPUT : unknown.words;
    return { what: 'a process uses this filesystem', why: `${wordsOf(each)}${beside}` };
  }
  const shown = new Set(namespaces.flatMap(({ table }) => table.mounts.map(({ id }) => id)));
  for (const each of held) {
    const { mount, path } = each.file;
    if (mount === undefined || shown.has(mount) || KERNEL_MADE.test(path)) continue;
    // Our own descriptors show that this mount is of another filesystem.
    if (ownMounts.has(mount)) continue;
    if (await isNew(mount, each.pid, device, snapshot)) continue;
    if (await isOfAnother(each, device, snapshot)) continue;
    const unknown = await unknownUse(snapshot, each);
    if (!unknown) continue;
    const what = 'a process holds a file of a filesystem that no table shows, perhaps of this one';
    return { what, why: `${wordsOf(each)}, on mount ${mount}${unknown.words}` };
  }
  return undefined;
}

const OWN_OUTPUT =
  ', where the input or output of kubediag lies as well: redirect that to another filesystem';

// /memfd:wayland (deleted), /dev/null of an initramfs, /dev/pts/0 of another devpts instance
const KERNEL_MADE =
  /^\/(?:memfd:|anon_hugepage|secretmem|dmabuf:|dev\/(?:null|console|tty\d*|ptmx|pts\/\d+)$)/;

/** A mount that was created since the tables were read, and is of another filesystem. */
async function isNew(
  id: number,
  pid: number,
  device: string,
  snapshot: Snapshot,
): Promise<boolean> {
  const now = await attempt(readMountTable(snapshot, pid, true));
  return now.known && now.value.mounts.some((one) => one.id === id && one.device !== device);
}

/**
 * A file that was opened in a namespace that we cannot read, such as the log of a program that was
 * started outside of its container. A file with the same inode is at its path, on another
 * filesystem.
 */
async function isOfAnother(
  { pid, file }: HeldMount,
  device: string,
  snapshot: Snapshot,
): Promise<boolean> {
  const table = await attempt(readMountTable(snapshot, pid, true));
  const shows = table.known ? mountShowing(file.path, table.value) : undefined;
  // Never accessed if the filesystem could hang.
  if (!shows || shows.device === device || isSuspectType(shows.fsType)) return false;
  const path = `/proc/${pid}/root${file.path}`;
  const status = await attempt(snapshot.node.ask('status', { path }));
  return status.known && status.value.inode === file.inode && status.value.device !== device;
}

function wordsOf({ pid, processName, file }: HeldMount): string {
  return `${processName} (pid ${pid}) holds ${file.path} by ${file.by}`;
}

/** The layers of an overlay are in its mount options. No process has them open. */
function overlay(
  copies: readonly PlacedMount[],
  { namespaces }: MountNamespaces,
): User | undefined {
  const targets = [...new Set(copies.map(({ mount }) => mount.target))];
  for (const { table } of namespaces) {
    for (const mount of table.mounts) {
      if (mount.fsType !== 'overlay') continue;
      const line = table.lineText(mount);
      // lowerdir=/var/lib/kubelet/pods/29da79e5-.../mount/layer:/other,upperdir=...
      const words = line.split(/[=:,\s]/);
      const layer = words.find((word) => targets.some((target) => isWithin(word, target)));
      if (layer === undefined) continue;
      const why = `${mount.target} has the layer ${layer} (${originText({ ...table.origin, line: mount.line })})`;
      return { what: 'an overlay has a layer on this filesystem', why };
    }
  }
  return undefined;
}

/** The kernel itself uses loop devices and swap files, so no process has them open. */
async function backing(
  copies: readonly PlacedMount[],
  snapshot: Snapshot,
): Promise<User | undefined> {
  const isHeld = (path: string) => copies.some(({ mount }) => isWithin(path, mount.target));
  const swaps = (await snapshot.node.ask('file', { path: '/proc/swaps' })).split('\n').slice(1);
  // /var/lib/kubelet/pods/.../mount/swapfile   file   2097148   0   -2
  const swap = swaps.map((line) => line.split(/\s/)[0] ?? '').find(isHeld);
  if (swap !== undefined) return { what: 'the kernel swaps to this filesystem', why: swap };
  const devices = await snapshot.node.ask('folder', { path: '/sys/block' });
  // loop7
  const loops = devices.filter((name) => /^loop\d+$/.test(name));
  if (loops.length > LOOP_DEVICES_MAX) {
    const why = `there are ${loops.length}, and no more than ${LOOP_DEVICES_MAX} are checked`;
    return { what: 'not every loop device can be checked', why };
  }
  for (const loop of loops) {
    const path = `/sys/block/${loop}/loop/backing_file`;
    // A device that is not set up does not have this file.
    const file = (await unlessMissing(snapshot.node.ask('file', { path })))?.trim();
    if (file === undefined || !isHeld(file)) continue;
    const why = `${loop}: ${file}`;
    return { what: 'a loop device is made from a file on it', why };
  }
  return undefined;
}
