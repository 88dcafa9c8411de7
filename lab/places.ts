/**
 * Paths on a practice node. They are those of any node: its root is private and in memory, so
 * nothing that is written there reaches the machine.
 */
export const PLACES = {
  /** On the node: the files of the lab. On the machine: a directory for each lab. */
  lab: '/run/kubediag-lab',
  /** The settings of the lab: only a practice node has this file. */
  settings: '/run/kubediag-lab/lab.json',
  /** The objects that an API server would send to a kubelet, one file each. */
  objects: '/run/kubediag-lab/objects',
  /** What the stand-in kubelet reads in every iteration: see `KubeletChanges`. */
  kubeletWords: '/run/kubediag-lab/kubelet.json',
  /** The version whose behaviour the stand-in kubelet has in its current iteration. */
  kubeletIteration: '/run/kubediag-lab/kubelet-turn',
  kubeletRoot: '/var/lib/kubelet',
  kubeletLog: '/var/log/kubelet.log',
  runtimeSocket: '/run/containerd/containerd.sock',
  podLogs: '/var/log/pods',
  executable: '/usr/local/bin/kubediag',
} as const;

/** The port of the kubelet. The node has its own network, so the port is always free. */
export const READ_ONLY_PORT = 10_255;

/** The port of `kubediag serve` on the practice node. */
export const AGENT_PORT = 8_090;
