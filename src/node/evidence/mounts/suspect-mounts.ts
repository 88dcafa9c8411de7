import { defineEvidence } from '../../model/evidence.ts';
import { kubelet } from '../kubelet/kubelet.ts';
import { type PodPath, podPathOf, type Roots } from '../pods/pod-path.ts';
import { mountShowing } from './mount-places.ts';
import { type Mount, type MountTable, mountTable } from './mount-table.ts';

/** A mount of the kubelet whose every access asks somebody who may never answer. */
export interface SuspectMount {
  readonly mount: Mount;
  /** The pod it is of; absent for one that several pods may share, below "plugins". */
  readonly pod?: PodPath;
  /** What is seen at its target is this mount: no other lies over it, or over a folder above. */
  readonly isVisible: boolean;
  /** FUSE has a connection that can be read, and aborted. */
  readonly isFuse: boolean;
}

export interface SuspectMounts {
  readonly suspects: readonly SuspectMount[];
  /**
   * Mounts of pods on disks, and of kinds that nobody here knows: a disk can hang too, and there are
   * more servers than we know. A node has thousands of them, so only those of orphans are asked.
   */
  readonly others: readonly { readonly mount: Mount; readonly podUid: string }[];
  readonly table: MountTable;
}

export const suspectMounts = defineEvidence<SuspectMounts>({
  id: 'suspect-mounts',
  title: 'Mounts below the kubelet that may hang',
  isDerived: true,
  collect: async (snapshot) => {
    const [here, table] = await Promise.all([snapshot.of(kubelet), snapshot.of(mountTable)]);
    return { suspects: suspectsIn(table, here), others: othersIn(table, here), table };
  },
});

/** Filesystems that wait for a server, a peer or a process. */
const WAITS_FOR_OTHERS: ReadonlySet<string> = new Set([
  ...['nfs', 'nfs3', 'nfs4', 'cifs', 'smb3', 'smbfs', 'ceph', 'fuse', 'fuseblk', '9p', 'virtiofs'],
  ...['glusterfs', 'lustre', 'gpfs', 'beegfs', 'afs', 'ocfs2', 'gfs2', 'orangefs', 'pvfs2', 'coda'],
  // To look at one mounts what it stands for: it is known, and never touched.
  'autofs',
]);

export function isSuspectType(fsType: string): boolean {
  return WAITS_FOR_OTHERS.has(fsType) || isFuseType(fsType);
}

// fuse, fuse.ceph-fuse, fuseblk; "fusectl" is a table of the kernel's
export function isFuseType(fsType: string): boolean {
  return fsType === 'fuse' || fsType === 'fuseblk' || fsType.startsWith('fuse.');
}

/** Filesystems in memory, and tables of the kernel: nobody ever waits on them. */
const NEVER_WAITS: ReadonlySet<string> = new Set([
  ...['tmpfs', 'ramfs', 'proc', 'sysfs', 'cgroup', 'cgroup2', 'mqueue', 'nsfs', 'devtmpfs'],
  'devpts',
]);

export function suspectsIn(table: MountTable, roots: Roots): readonly SuspectMount[] {
  const isBelow = ({ target }: Mount) =>
    target.startsWith(`${roots.root}/pods/`) || target.startsWith(`${roots.root}/plugins/`);
  return table.mounts
    .filter((mount) => isSuspectType(mount.fsType) && isBelow(mount))
    .map((mount) => suspectOf(mount, table, roots));
}

function othersIn(table: MountTable, roots: Roots): SuspectMounts['others'] {
  return table.mounts.flatMap((mount) => {
    const isOther = !isSuspectType(mount.fsType) && !NEVER_WAITS.has(mount.fsType);
    const pod = isOther ? podPathOf(mount.target, roots) : undefined;
    return pod ? [{ mount, podUid: pod.podUid }] : [];
  });
}

/** Also for a mount of another type, once a thread is seen to wait on it. */
export function suspectOf(mount: Mount, table: MountTable, roots: Roots): SuspectMount {
  const pod = podPathOf(mount.target, roots);
  return {
    mount,
    ...(pod ? { pod } : {}),
    isVisible: mountShowing(mount.target, table)?.id === mount.id,
    isFuse: isFuseType(mount.fsType),
  };
}

/** Devices have a major number in the upper bits, as the kernel stores them. */
const MINORS = 2 ** 20;

/**
 * Where the kernel shows the connection of a FUSE mount; undefined where that is not mounted. It is
 * called by the whole device number: 57 is that of 0:57, and 8388624 that of 8:16 (fuseblk).
 */
export function fuseConnection(device: string, { mounts }: MountTable): string | undefined {
  const control = mounts.findLast(({ fsType }) => fsType === 'fusectl');
  const [major = 0, minor = 0] = device.split(':').map(Number);
  return control && `${control.target}/${major * MINORS + minor}`;
}
