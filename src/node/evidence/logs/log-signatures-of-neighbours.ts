import type { Signature } from '../../model/log-signature.ts';

/** Messages of the kernel, systemd and others, and what prevents the kubelet from starting. */
export const NEIGHBOUR_SIGNATURES = {
  'nfs-not-responding': {
    literals: ['not responding, still trying', 'not responding, timed out'],
    // nfs: server 10.36.3.5 not responding, still trying
    patterns: [/nfs: server (?<server>\S+) not responding/],
  },
  'ceph-not-responding': {
    literals: ['libceph: mon', 'libceph: osd', ' ceph: mds'],
    patterns: [
      // libceph: mon0 10.0.0.1:6789 session lost, hunting for new mon; ceph: mds0 hung
      /(?:lib)?ceph: (?<server>(?:mon|osd|mds)\d+)[^\n"]*?(?<problem>session lost|socket closed|hung|caps stale|caps went stale|down)/,
    ],
  },
  'task-blocked': {
    literals: ['blocked for more than '],
    // INFO: task kubelet:4138 blocked for more than 120 seconds.
    patterns: [/task (?<task>[^\s:]+):(?<pid>\d+) blocked for more than (?<seconds>\d+) seconds/],
  },
  'transient-scope-failed': {
    literals: ['Failed to start transient scope unit'],
    // Failed to start transient scope unit: Argument list too long
    patterns: [/Failed to start transient scope unit: (?<error>[^"\n]+)/],
  },
  'systemd-slow': {
    literals: ['Timed out while waiting for '],
    patterns: [
      // Timed out while waiting for StopUnit(kubepods-pod1.slice) completion signal from dbus
      /Timed out while waiting for (?:StopUnit\((?<unit>[^)]+)\)|systemd to remove (?<slice>\S+))/,
    ],
  },
  'checkpoint-broken': {
    literals: [
      'restore state from checkpoint',
      'checkpoint is corrupted',
      'remove policy state file',
    ],
    patterns: [
      // could not restore state from checkpoint: configured policy "none" differs from state ...
      /could not restore state from checkpoint: (?<error>[^\n]+)/,
      /(?<error>checkpoint is corrupted)/,
      // please drain node and remove policy state file
      /(?<error>please drain node and remove policy state file)/,
    ],
  },
  'network-not-ready': {
    literals: ['runtime network not ready'],
    // container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady ...
    patterns: [/runtime network not ready:? ?"?(?:networkReady=")?(?<why>[^"\n]*)/],
  },
  'cgroup-not-deleted': {
    literals: ['Failed to delete cgroup paths'],
    // Failed to delete cgroup paths [/kubepods/pod1]; "Failed to delete cgroup paths" cgroupName=[]
    patterns: [/Failed to delete cgroup paths/],
  },
  'read-only-filesystem': {
    literals: ['read-only file system', 'Read-only file system'],
    // open /var/lib/kubelet/pods/49e7/etc-hosts: read-only file system
    patterns: [/(?:(?<path>\/[^\s":]{1,400}): )?[Rr]ead-only file system/],
  },
  'start-failed': {
    literals: ['Failed to start ContainerManager', 'ddress already in use'],
    patterns: [
      // Failed to start ContainerManager start cpu manager error: ...
      /Failed to start ContainerManager"?:? ?(?:err=")?(?<error>[^"\n]*)/,
      // listen tcp 0.0.0.0:10250: bind: address already in use
      /listen \w+ (?<address>\S+): bind: (?<error>address already in use)/,
    ],
  },
} as const satisfies Readonly<Record<string, Signature>>;
