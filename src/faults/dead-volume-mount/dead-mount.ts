import type { BlockedThread } from '../../evidence/blocked-threads.ts';
import type { MountProbe, MountProbes } from '../../evidence/mount-probes.ts';
import type { Mount } from '../../evidence/mount-table.ts';
import type { PodLife } from '../../evidence/orphan-pods.ts';

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
  readonly life: PodLife & { readonly state: 'orphan' };
  /** What the probe saw, and the path that it asked for. */
  readonly probe: { readonly text: string; readonly origin: string };
  readonly waiting?: number | undefined;
}

export function deadMountsIn({ probes }: MountProbes): readonly DeadMount[] {
  const groups = Map.groupBy(
    probes.filter(({ result, life }) => result.state === 'dead' && life?.state === 'orphan'),
    ({ suspect }) => `${suspect.mount.device} ${suspect.pod?.podUid}`,
  );
  return [...groups.values()].flatMap((group) => deadMountOf(group) ?? []);
}

function deadMountOf(group: readonly MountProbe[]): DeadMount | undefined {
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
