/** What to do about each kind of cause. A restart of the kubelet is never the first step. */
export const CAUSES = {
  'dead-mount': 'look for the dead mount: kubediag check; restart nothing before it is gone',
  'slow-folder': 'check whether it continues by itself; if not: kubediag check',
  storage: "check the disk of the kubelet's directory: dmesg, free space and inodes, I/O pressure",
  'device-plugin': 'restart that device plugin (its pod), not the kubelet',
  cadvisor: 'restart the kubelet: it does not get out of this by itself',
  systemd:
    'look at systemd and dbus: systemctl status, journalctl -u dbus; do not restart dbus lightly',
  runtime: 'check the container runtime: its log, and crictl with a short --timeout',
  'api-server': 'look at the way to the API server: network, load balancer, its own health',
  'not-ready': "read the kubelet's log for: Skipping pod synchronization",
  'sync-loop': 'look at the sync loop: something else blocks it',
  lock: 'look at who holds the lock',
  volume: "look at the volume's server and at its driver",
  unmount: 'the mount may be dead: kubediag check',
  'csi-driver': 'restart the pod of that CSI driver on this node',
  'live-mount': "look at the volume's server; never force a volume of a running pod",
  load: 'wait, or find the directory or log that is so large',
  leftovers: 'kubediag check',
  'log-removal': 'kubediag check',
  exec: 'look at the exec probes and at processes that they left behind',
  normal: 'nothing',
  'runtime-volume': 'look for the dead volume, not for the runtime: kubediag check',
} as const;

export type Cause = keyof typeof CAUSES;
