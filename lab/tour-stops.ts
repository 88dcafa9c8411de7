import { HABITS, type Habit } from './breaks/kubelet-habits.ts';

/** One fault on the tour: which break shows it best, and how it comes about in nature. */
export interface TourStop {
  /** The name of the case: "stale-subpath-mount/configmap-active". */
  readonly case: string;
  readonly title: string;
  readonly story: string;
  /** Which kubelets have the fault. */
  readonly kubelet: Habit;
  /** What else `recover` is told: --wait, where something is to be seen afterwards. */
  readonly recoverWith?: readonly string[];
}

export const TOUR_STOPS: readonly TourStop[] = [
  {
    case: 'stale-subpath-mount/configmap-active',
    title: 'The container that cannot start again',
    story:
      'A pod mounts one file of a ConfigMap by subPath. Somebody changes the ConfigMap, and nothing ' +
      'happens, for weeks; then the container ends, and older kubelets start it again on a mount ' +
      'whose file was deleted long ago. It never comes up, and nothing in the pod was changed.',
    kubelet: HABITS.leavesStaleMounts,
    recoverWith: ['--wait'],
  },
  {
    case: 'container-without-log-path/broker-damaged',
    title: 'The kubelet that deletes /bin',
    story:
      'An installer makes a container past the kubelet, without a log path. When it has ended, the ' +
      'kubelet collects it, and to be rid of its logs deletes everything that matches "*" in the ' +
      'folder it works in: /. The first that goes is /bin, and nobody can log in any more.',
    kubelet: HABITS.removesByPattern,
  },
  {
    case: 'dead-volume-mount/nfs-active',
    title: 'The mount that nobody can touch',
    story:
      'The server of a volume falls silent: its process hangs, or its network is gone. Whoever ' +
      'touches the mount waits for ever, and at some point that is the kubelet, as it cleans up ' +
      'after a pod. From then on new pods stay Pending on a node that calls itself Ready.',
    kubelet: HABITS.asksEveryServer,
  },
  {
    case: 'leftover-volume-directory/exists-active',
    title: 'The folders that pile up',
    story:
      'To delete a volume, some plugins make a folder, rename the volume to it and delete that. When ' +
      'the rename fails the folder stays, and the next try makes another one. After months there are ' +
      'thousands, and the kubelet looks at every one of them again and again.',
    kubelet: HABITS.leavesEmptyFolders,
  },
];
