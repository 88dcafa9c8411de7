import { type Signature, signature } from '../../model/log-signature.ts';

/** Messages of the kernel, systemd and others, and what prevents the kubelet from starting. */
export const NEIGHBOUR_SIGNATURES = {
  'nfs-not-responding': signature(
    ['not responding, still trying', 'not responding, timed out'],
    // nfs: server 10.36.3.5 not responding, still trying
    /nfs: server (?<server>\S+) not responding/,
  ),
  'ceph-not-responding': signature(
    ['libceph: mon', 'libceph: osd', ' ceph: mds'],
    // libceph: mon0 10.0.0.1:6789 session lost, hunting for new mon; ceph: mds0 hung
    /(?:lib)?ceph: (?<server>(?:mon|osd|mds)\d+)[^\n"]*?(?<problem>session lost|socket closed|hung|caps stale|caps went stale|down)/,
  ),
  'task-blocked': signature(
    ['blocked for more than '],
    // INFO: task kubelet:4138 blocked for more than 120 seconds.
    /task (?<task>[^\s:]+):(?<pid>\d+) blocked for more than (?<seconds>\d+) seconds/,
  ),
  'transient-scope-failed': signature(
    ['Failed to start transient scope unit'],
    // Failed to start transient scope unit: Argument list too long
    /Failed to start transient scope unit: (?<error>[^"\n]+)/,
  ),
  'systemd-slow': signature(
    ['Timed out while waiting for '],
    // Timed out while waiting for StopUnit(kubepods-pod1.slice) completion signal from dbus
    /Timed out while waiting for (?:StopUnit\((?<unit>[^)]+)\)|systemd to remove (?<slice>\S+))/,
  ),
  'checkpoint-broken': signature(
    ['restore state from checkpoint', 'checkpoint is corrupted', 'remove policy state file'],
    // could not restore state from checkpoint: configured policy "none" differs from state ...
    /could not restore state from checkpoint: (?<error>[^\n]+)/,
    /(?<error>checkpoint is corrupted)/,
    // please drain node and remove policy state file
    /(?<error>please drain node and remove policy state file)/,
  ),
  'network-not-ready': signature(
    ['runtime network not ready'],
    // container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady ...
    /runtime network not ready:? ?"?(?:networkReady=")?(?<why>[^"\n]*)/,
  ),
  'cgroup-not-deleted': signature(
    ['Failed to delete cgroup paths'],
    // Failed to delete cgroup paths [/kubepods/pod1]; "Failed to delete cgroup paths" cgroupName=[]
    /Failed to delete cgroup paths/,
  ),
  'read-only-filesystem': signature(
    ['read-only file system', 'Read-only file system'],
    // open /var/lib/kubelet/pods/49e7/etc-hosts: read-only file system
    /(?:(?<path>\/[^\s":]{1,400}): )?[Rr]ead-only file system/,
  ),
  'start-failed': signature(
    ['Failed to start ContainerManager', 'ddress already in use'],
    // Failed to start ContainerManager start cpu manager error: ...
    /Failed to start ContainerManager"?:? ?(?:err=")?(?<error>[^"\n]*)/,
    // listen tcp 0.0.0.0:10250: bind: address already in use
    /listen \w+ (?<address>\S+): bind: (?<error>address already in use)/,
  ),
} as const satisfies Readonly<Record<string, Signature>>;
