/**
 * Where things are on a practice node. Its root is its own and lies in memory, so these are the paths
 * of any node, and what is written there never reaches the machine.
 */
export const PLACES = {
  /** On the node: what the lab keeps about it. On the machine: one folder for each lab, by its name. */
  lab: '/run/kubediag-lab',
  /** Which lab this is: only a practice node has it. */
  settings: '/run/kubediag-lab/lab.json',
  /** What a kubelet would be told by an API server, one file for each object. */
  objects: '/run/kubediag-lab/objects',
  /** What our kubelet reads anew all the time: see `KubeletChanges`. */
  kubeletWords: '/run/kubediag-lab/kubelet.json',
  /** By which version our kubelet goes in the turn of its loop that has begun last. */
  kubeletIteration: '/run/kubediag-lab/kubelet-turn',
  kubeletRoot: '/var/lib/kubelet',
  kubeletLog: '/var/log/kubelet.log',
  runtimeSocket: '/run/containerd/containerd.sock',
  podLogs: '/var/log/pods',
  executable: '/usr/local/bin/kubediag',
} as const;

/** Of the kubelet, without credentials. The network is the node's own, so it is never taken. */
export const READ_ONLY_PORT = 10_255;

/** Of `kubediag serve` on the practice node. */
export const AGENT_PORT = 8_090;
