import { defineEvidence } from '../../model/evidence.ts';
import { kubelet } from '../kubelet/kubelet.ts';
import { type PodPath, podPathOf, type Roots } from '../pods/pod-path.ts';
import { mountShowing } from './mount-places.ts';
import { type Mount, type MountTable, mountTable } from './mount-table.ts';

/** A mount of the kubelet whose every access waits for a server that may never respond. */
export interface SuspectMount {
  readonly mount: Mount;
  /** Its pod; not set below "plugins", where several pods may share a mount. */
  readonly pod?: PodPath;
  /** No other mount covers it, or a directory above it. */
  readonly isVisible: boolean;
  /** It has a FUSE connection, which can be read and aborted. */
  readonly isFuse: boolean;
}

export interface SuspectMounts {
  readonly suspects: readonly SuspectMount[];
  /**
   * Mounts of pods on disks, or of unknown types: a disk can hang too, and we do not know every
   * network filesystem. A node has thousands of them, so only those of orphaned pods are probed.
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
  // Reading an autofs mount point triggers the mount, so autofs mounts are listed but never probed.
  'autofs',
]);

export function isSuspectType(fsType: string): boolean {
  return WAITS_FOR_OTHERS.has(fsType) || isFuseType(fsType);
}

// fuse, fuse.ceph-fuse, fuseblk; "fusectl" is a pseudo-filesystem
export function isFuseType(fsType: string): boolean {
  return fsType === 'fuse' || fsType === 'fuseblk' || fsType.startsWith('fuse.');
}

/** Filesystems in memory, and pseudo-filesystems of the kernel: an access never waits. */
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

/** Also for a mount of another type, if a thread waits on it. */
export function suspectOf(mount: Mount, table: MountTable, roots: Roots): SuspectMount {
  const pod = podPathOf(mount.target, roots);
  return {
    mount,
    ...(pod ? { pod } : {}),
    isVisible: mountShowing(mount.target, table)?.id === mount.id,
    isFuse: isFuseType(mount.fsType),
  };
}

/** The kernel stores the major number of a device in the upper bits. */
const MINORS = 2 ** 20;

/**
 * The directory of a FUSE connection in fusectl; undefined if fusectl is not mounted. Its name is
 * the whole device number: 57 for 0:57, and 8388624 for 8:16 (fuseblk).
 */
export function fuseConnection(device: string, { mounts }: MountTable): string | undefined {
  const control = mounts.findLast(({ fsType }) => fsType === 'fusectl');
  const [major = 0, minor = 0] = device.split(':').map(Number);
  return control && `${control.target}/${major * MINORS + minor}`;
}
