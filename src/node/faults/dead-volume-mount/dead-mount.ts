import { mountShowing } from '../../evidence/mounts/mount-places.ts';
import type { MountProbe, MountProbes } from '../../evidence/mounts/mount-probes.ts';
import type { Mount } from '../../evidence/mounts/mount-table.ts';
import type { PodLife } from '../../evidence/pods/orphan-pods.ts';
import type { BlockedThread } from '../../evidence/stacks/blocked-threads.ts';
import type { BlockedStack } from '../../evidence/stacks/thread-stacks.ts';
import type { Origin } from '../../model/origin.ts';
import type { Loop } from './loop.ts';

/** A filesystem that does not answer, as one orphaned pod has it mounted. */
export interface DeadMount {
  readonly podUid: string;
  /** All mounts of it that the pod has, the inner ones first. */
  readonly mounts: readonly Mount[];
  /** The one that was probed, or stands for it: the volume's own where there is one. */
  readonly main: Mount;
  readonly volume?: string | undefined;
  readonly plugin?: string | undefined;
  readonly isCsi: boolean;
  readonly threads: readonly BlockedThread[];
  /** Of the threads that wait on it, those whose stack was read. */
  readonly stacks: readonly BlockedStack[];
  readonly life: PodLife & { readonly state: 'orphan' };
  /** What the probe saw, and the path that it asked for. */
  readonly probe: { readonly text: string; readonly origin: Origin };
  readonly waiting?: number | undefined;
  /** The pods with this filesystem that are not proven to be gone: force concerns all of them. */
  readonly mustName: readonly string[];
}

export function deadMountsIn(
  { probes, table }: MountProbes,
  stacks: readonly BlockedStack[],
): readonly DeadMount[] {
  const groups = Map.groupBy(
    probes.filter(({ result, life }) => result.state === 'dead' && life?.state === 'orphan'),
    ({ suspect }) => `${suspect.mount.device} ${suspect.pod?.podUid}`,
  );
  const byMount = Map.groupBy(stacks, ({ path }) =>
    path === null ? undefined : mountShowing(path, table),
  );
  const mounts = [...groups.values()].flatMap((group) => deadMountOf(group, byMount) ?? []);
  return mounts.map((mount) => ({
    ...mount,
    mustName: mounts
      .filter(
        ({ main, life }) =>
          main.device === mount.main.device && life.needsConfirmation !== undefined,
      )
      .map(({ podUid }) => podUid)
      .toSorted(),
  }));
}

function deadMountOf(
  group: readonly MountProbe[],
  stacks: ReadonlyMap<Mount | undefined, readonly BlockedStack[]>,
): Omit<DeadMount, 'mustName'> | undefined {
  const main = group.find(({ suspect }) => suspect.pod?.plugin !== undefined) ?? group[0];
  if (main?.life?.state !== 'orphan' || main.result.state !== 'dead') return undefined;
  const { pod, mount } = main.suspect;
  return {
    podUid: pod?.podUid ?? '',
    mounts: group.map(({ suspect }) => suspect.mount).toSorted(innerFirst),
    main: mount,
    volume: pod?.volume,
    plugin: pod?.plugin,
    isCsi: pod?.plugin === 'kubernetes.io~csi',
    threads: group.flatMap(({ threads }) => threads),
    stacks: group.flatMap(({ suspect }) => stacks.get(suspect.mount) ?? []),
    life: main.life,
    probe: { text: main.result.text, origin: main.origin },
    waiting: main.waiting,
  };
}

/** SubPath mounts stand beside the volume, but are made from it: they go first all the same. */
function innerFirst(left: Mount, right: Mount): number {
  const rank = ({ target }: Mount) =>
    target.split('/').length + (target.includes('/volume-subpaths/') ? 1_000 : 0);
  return rank(right) - rank(left) || right.line - left.line;
}

export type StuckThread = BlockedThread & Required<Pick<BlockedThread, 'seenFor'>>;

/** So long the kubelet's own health check waits before it calls the loop dead. */
const STUCK_MS = 5 * 60_000;

/** How the loop reads a volume. Statistics of it are statfs, and its unmount is umount2. */
export const LOOKS: ReadonlySet<string> = new Set(['stat', 'lstat', 'newfstatat', 'statx']);

/**
 * A thread that waits there as the sync loop would, for as long as the loop may be silent. Whatever
 * shows a turn of the loop within that time shows that another part of the kubelet waits.
 */
export function stuckThread({ threads }: DeadMount, loop: Loop): StuckThread | undefined {
  if (loop.isWell) return undefined;
  return threads.find((thread): thread is StuckThread => {
    const { call, seenFor } = thread;
    if (!seenFor || seenFor.ms < STUCK_MS || !LOOKS.has(call)) return false;
    return !loop.since || loop.since.getTime() < seenFor.since.getTime();
  });
}
