import type { KubeletVersion } from '../../evidence/kubelet/kubelet-version.ts';
import type { PlacedMount } from '../../evidence/mounts/mount-places.ts';
import type { PodLife } from '../../evidence/pods/orphan-pods.ts';
import type {
  BaseFolder,
  Leftover,
  LeftoverFolder,
  LeftoverFolders,
} from '../../evidence/volumes/leftover-folders.ts';
import type { LeftoverSurroundings } from '../../evidence/volumes/leftover-surroundings.ts';
import type { Writer } from '../../evidence/volumes/leftover-writers.ts';
import type { PodComplaint, TeardownFailure } from '../../evidence/volumes/teardown-failures.ts';
import type { TeardownLog } from '../../evidence/volumes/teardown-log.ts';
import type { Maybe } from '../../model/evidence.ts';

/** One plugin's directory of one pod, with all that is known of what was left in it. */
export interface FolderFacts {
  readonly folder: LeftoverFolder;
  /** Directories that are left over; files of such a name are none. */
  readonly leftovers: readonly Leftover[];
  /** Those that may be removed: empty, mounted nowhere, old enough. */
  readonly removable: readonly Leftover[];
  readonly filled: readonly Leftover[];
  readonly mounted: readonly Leftover[];
  readonly young: readonly Leftover[];
  readonly isNested: boolean;
  readonly oldestMs?: number;
  readonly youngestMs?: number;
  readonly podName?: string;
  readonly podNamespace?: string;
  /** Whether anybody still knows its pod; absent when nobody was asked. */
  readonly life?: PodLife;
  readonly failure?: TeardownFailure;
  readonly complaint?: PodComplaint;
  /** Of any orphan: a kubelet that has not yet heard of all its pods cleans up after none. */
  readonly complaints: readonly PodComplaint[];
  /** Mounts on the volume's own directory in namespaces other than the kubelet's. */
  readonly holders: readonly { readonly base: BaseFolder; readonly held: PlacedMount }[];
  /** The volume is mounted for the kubelet too: its teardown did not even unmount it. */
  readonly isMounted: boolean;
  readonly writers: readonly Writer[];
}

export function factsOf(folder: LeftoverFolder, seen: Seen, all: LeftoverFolders): FolderFacts {
  const { podUid, plugin, path } = folder;
  const { now, minimumAgeMs, around } = all;
  const leftovers = folder.leftovers.filter(
    ({ status }) => status === undefined || status?.type === 'folder',
  );
  const youngest = now.getTime() - minimumAgeMs;
  const mounted = leftovers.filter(({ mounts, status }) => mounts.length > 0 || !status);
  const free = leftovers.filter(({ mounts, status }) => mounts.length === 0 && status);
  const isYoung = ({ status }: Leftover) => (status?.modifiedMs ?? 0) > youngest;
  const times = free.map(({ status }) => status?.modifiedMs ?? 0);
  const { failures = [], orphans } = seen.log.known ? seen.log.value : {};
  const failure = failures.findLast(
    (one) => one.podUid === podUid && one.plugin === plugin && one.path.startsWith(`${path}/`),
  );
  const complaint = orphans?.get(podUid);
  const life = around?.lives.get(podUid);
  const own = around?.ownNamespace;
  const isOwn = ({ namespace }: PlacedMount) => namespace.namespace === own;
  const writers = around?.writers.known ? around.writers.value.writers : [];
  return {
    folder,
    leftovers,
    removable: free.filter((one) => one.isEmpty === true && !isYoung(one)),
    filled: free.filter(({ isEmpty }) => isEmpty === false),
    mounted: folder.error === undefined ? mounted : [],
    young: free.filter((one) => one.isEmpty === true && isYoung(one)),
    isNested: leftovers.some(({ suffixes }) => suffixes > 1),
    ...(times.length > 0 ? { oldestMs: least(times), youngestMs: most(times) } : {}),
    ...nameOf(podUid, around),
    ...(life ? { life } : {}),
    ...(failure ? { failure } : {}),
    ...(complaint ? { complaint } : {}),
    complaints: [...(orphans?.values() ?? [])],
    holders: folder.bases.flatMap((base) =>
      base.mounts.filter((held) => !isOwn(held)).map((held) => ({ base, held })),
    ),
    isMounted: folder.bases.some(({ mounts }) => mounts.some(isOwn)),
    writers: writers.filter(({ base }) => folder.bases.some((one) => one.path === base)),
  };
}

/** Its name for the report: a deleted pod may still have its sandbox. */
export function nameOf(
  podUid: string,
  around: LeftoverSurroundings | undefined,
): Pick<FolderFacts, 'podName' | 'podNamespace'> {
  if (!around) return {};
  const { pods, containers } = around;
  const pod = pods.known ? pods.value.pods.find(({ uid }) => uid === podUid) : undefined;
  if (pod) return { podName: pod.name, podNamespace: pod.namespace };
  const sandbox = containers.known
    ? containers.value.sandboxes.find((one) => one.podUid === podUid)
    : undefined;
  return sandbox ? { podName: sandbox.podName, podNamespace: sandbox.podNamespace } : {};
}

/** A spread of a hundred thousand numbers would be too many arguments. */
function least(times: readonly number[]): number {
  return times.reduce((one, other) => Math.min(one, other));
}

function most(times: readonly number[]): number {
  return times.reduce((one, other) => Math.max(one, other));
}

/** The directories of the node, and the kubelet's own words: each can prove the fault alone. */
export interface Seen {
  readonly leftovers: Maybe<LeftoverFolders>;
  readonly log: Maybe<TeardownLog>;
}

/** Until 1.9 the kubelet looks for volumes on the disk every three minutes; then at its start only. */
export function scansAllTheTime({ major, minor }: KubeletVersion): boolean {
  return major === 1 && minor <= 9;
}

/** Plugins of the kubelet itself whose teardown renamed, before 1.7.0. */
export const RENAMED_BEFORE_1_7: ReadonlySet<string> = new Set([
  'kubernetes.io~empty-dir',
  'kubernetes.io~secret',
  'kubernetes.io~configmap',
  'kubernetes.io~downward-api',
  'kubernetes.io~git-repo',
]);

/** Volumes that belong to one pod alone, so that two pods may have one of the same name. */
export const OF_ONE_POD: ReadonlySet<string> = new Set([
  ...RENAMED_BEFORE_1_7,
  'kubernetes.io~projected',
]);
