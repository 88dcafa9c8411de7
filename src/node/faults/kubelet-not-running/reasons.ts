export const reasons = {
  KubeletStopped: 'The kubelet was stopped, and nobody has started it again.',
  KubeletCrashed: 'The kubelet ended with an error or by a signal, and does not run.',
  KubeletOutOfMemory: 'The kernel killed the kubelet because memory ran out.',
  KubeletCrashLoop: 'The kubelet ends soon after each start, and is started again and again.',
  KubeletPaused: 'The process of the kubelet is stopped by a signal and waits to be continued.',
  KubeletGone: 'No kubelet runs on this node; why is not known.',
  NotANode: 'No kubelet runs here, and nothing shows that this machine is a node.',
} as const satisfies Record<string, string>;

export type Reason = keyof typeof reasons;
