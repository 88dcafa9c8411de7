import { attempt, type Maybe, type Snapshot } from '../../model/evidence.ts';
import { type Containers, containers } from '../containers/containers.ts';
import { kubelet } from '../kubelet/kubelet.ts';
import { type KubeletVersion, kubeletVersion } from '../kubelet/kubelet-version.ts';
import { type MountNamespaces, mountNamespaces } from '../mounts/mount-namespaces.ts';
import { type MountTable, mountTable } from '../mounts/mount-table.ts';
import { orphanPods, type PodLife } from '../pods/orphan-pods.ts';
import { type Pods, pods } from '../pods/pods.ts';
import { type CleaningLoop, cleaningLoop } from '../stacks/cleaning-loop.ts';
import { type Base, type Writers, writersBelow } from './leftover-writers.ts';
import { type VolumeMetrics, volumeMetrics } from './volume-metrics.ts';

/** Other facts about a node with leftovers. They are not read on other nodes. */
export interface LeftoverSurroundings {
  readonly namespaces: Maybe<MountNamespaces>;
  /** The kubelet's mount namespace: "mnt:[4026531841]". */
  readonly ownNamespace?: string | undefined;
  /** The kernel's release: "3.10.0-1160.el7.x86_64". */
  readonly kernel: Maybe<string>;
  readonly pods: Maybe<Pods>;
  readonly containers: Maybe<Containers>;
  readonly version: Maybe<KubeletVersion>;
  readonly metrics: Maybe<VolumeMetrics>;
  readonly writers: Maybe<Writers>;
  /** The state of each pod with leftovers, by its uid. */
  readonly lives: ReadonlyMap<string, PodLife>;
  /** Whether the kubelet's own cleanup runs. */
  readonly loop: CleaningLoop;
}

/** `top` is the directory of all pods. */
export async function leftoverSurroundings(
  snapshot: Snapshot,
  folders: readonly { readonly podUid: string; readonly bases: readonly Base[] }[],
  top: string,
): Promise<LeftoverSurroundings> {
  const [{ process }, table, namespaces] = await Promise.all([
    snapshot.of(kubelet),
    attempt(snapshot.of(mountTable)),
    attempt(snapshot.of(mountNamespaces)),
  ]);
  const bases = folders.flatMap((folder) => folder.bases);
  const [kernel, podList, held, version, metrics, writers, lives, loop] = await Promise.all([
    attempt(snapshot.node.ask('file', { path: '/proc/sys/kernel/osrelease' })),
    attempt(snapshot.of(pods)),
    attempt(snapshot.of(containers)),
    attempt(snapshot.of(kubeletVersion)),
    attempt(snapshot.of(volumeMetrics)),
    usersOf(snapshot, bases, top, namespaces, table),
    livesOf(snapshot, new Set(folders.map(({ podUid }) => podUid))),
    cleaningLoop(snapshot),
  ]);
  return {
    namespaces,
    ownNamespace: process?.mountNamespace,
    kernel,
    pods: podList,
    containers: held,
    version,
    metrics,
    writers,
    lives,
    loop,
  };
}

async function livesOf(
  snapshot: Snapshot,
  podUids: ReadonlySet<string>,
): Promise<ReadonlyMap<string, PodLife>> {
  const asked = await attempt(snapshot.of(orphanPods));
  const lifeOf = async (podUid: string): Promise<PodLife> =>
    asked.known
      ? asked.value.lifeOf(podUid)
      : { state: 'uncertain', why: asked.why, error: asked.error };
  const lives = await Promise.all(
    Array.from(podUids, async (podUid) => [podUid, await lifeOf(podUid)] as const),
  );
  return new Map(lives);
}

async function usersOf(
  snapshot: Snapshot,
  bases: readonly Base[],
  top: string,
  namespaces: Maybe<MountNamespaces>,
  table: Maybe<MountTable>,
): Promise<Maybe<Writers>> {
  if (!table.known) return table;
  if (!namespaces.known) return namespaces;
  const around = { top, namespaces: namespaces.value, table: table.value };
  return attempt(writersBelow(snapshot, bases, around));
}
