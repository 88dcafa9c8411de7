import { defineEvidence } from '../model/evidence.ts';
import { type Kubelet, kubelet } from './kubelet.ts';
import { mountShowing } from './mount-places.ts';
import { type Mount, type MountTable, mountTable } from './mount-table.ts';
import { type PodPath, podPathOf } from './pod-path.ts';

/** A mount of the kubelet whose every access asks somebody who may never answer. */
export interface SuspectMount {
  readonly mount: Mount;
  /** The pod it is of; absent for one that several pods may share, below "plugins". */
  readonly pod?: PodPath;
  /** What is seen at its target is this mount: no other lies over it, or over a folder above. */
  readonly isVisible: boolean;
  /** FUSE has a connection that can be looked at, and aborted. */
  readonly isFuse: boolean;
}

export interface SuspectMounts {
  readonly suspects: readonly SuspectMount[];
  readonly table: MountTable;
}

export const suspectMounts = defineEvidence<SuspectMounts>({
  id: 'suspect-mounts',
  title: 'Mounts below the kubelet that may hang',
  collect: async (look) => {
    const [here, table] = await Promise.all([look.of(kubelet), look.of(mountTable)]);
    return { suspects: suspectsIn(table, here), table };
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

type Roots = Pick<Kubelet, 'root' | 'toldRoot'>;

export function suspectsIn(table: MountTable, roots: Roots): readonly SuspectMount[] {
  const isBelow = ({ target }: Mount) =>
    target.startsWith(`${roots.root}/pods/`) || target.startsWith(`${roots.root}/plugins/`);
  return table.mounts
    .filter((mount) => isBelow(mount) && canHang(mount, roots))
    .map((mount) => suspectOf(mount, table, roots));
}

/** A volume on a block device hangs with that device, and there are more servers than we know. */
function canHang({ fsType, target }: Mount, roots: Roots): boolean {
  if (isSuspectType(fsType)) return true;
  return podPathOf(target, roots) !== undefined && !NEVER_WAITS.has(fsType);
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
