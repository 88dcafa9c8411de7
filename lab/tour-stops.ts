import { HABITS, type Habit } from './breaks/kubelet-habits.ts';

/** One fault of the tour: the break that shows it best, and how the fault happens in practice. */
export interface TourStop {
  /** The name of the case: "stale-subpath-mount/configmap-active". */
  readonly case: string;
  readonly title: string;
  readonly story: string;
  /** The behaviour of the kubelet that the fault needs. */
  readonly kubelet: Habit;
  /** Further arguments of `recover`: --wait, if there is an effect to see. */
  readonly recoverWith?: readonly string[];
}

export const TOUR_STOPS: readonly TourStop[] = [
  {
    case: 'stale-subpath-mount/configmap-active',
    title: 'The container that cannot start again',
    story:
      'A pod mounts one file of a ConfigMap by subPath. Somebody changes the ConfigMap, and nothing ' +
      'happens for weeks. Then the container exits, and an older kubelet restarts it with a mount ' +
      'whose file was deleted long ago. It never starts again, although the pod was not changed.',
    kubelet: HABITS.leavesStaleMounts,
    recoverWith: ['--wait'],
  },
  {
    case: 'container-without-log-path/broker-damaged',
    title: 'The kubelet that deletes /bin',
    story:
      'An installer creates a container without the kubelet and without a log path. After it has ' +
      'exited, the kubelet removes it, and to remove its logs deletes everything that matches "*" in ' +
      'its own working directory: /. The first entry to go is /bin, and nobody can log in any more.',
    kubelet: HABITS.removesByPattern,
  },
  {
    case: 'dead-volume-mount/nfs-active',
    title: 'The mount that nobody can touch',
    story:
      'The server of a volume stops responding: its process hangs, or its network is down. Every ' +
      'process that touches the mount hangs, at some point the kubelet too, as it cleans up after a ' +
      'pod. From then on new pods stay Pending on a node that reports Ready.',
    kubelet: HABITS.asksEveryServer,
  },
  {
    case: 'leftover-volume-directory/exists-active',
    title: 'The directories that pile up',
    story:
      'To delete a volume, some plugins create a directory, rename the volume to it and delete it. If ' +
      'the rename fails the directory stays, and the next attempt creates another one. After months ' +
      'there are thousands, and the kubelet examines every one of them again and again.',
    kubelet: HABITS.leavesEmptyFolders,
  },
];
