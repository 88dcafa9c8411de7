import { defined } from '../../../lib/std/defined.ts';
import {
  attempt,
  defineEvidence,
  optionValue,
  type Snapshot,
  type UnknownReason,
} from '../../model/evidence.ts';
import type { Origin } from '../../model/origin.ts';
import { kubelet } from '../kubelet/kubelet.ts';
import { METADATA_AGE_MS, METADATA_PODS_MAX } from '../limits.ts';
import { mountNamespaces } from '../mounts/mount-namespaces.ts';
import { mountsOnPaths } from '../mounts/mount-places.ts';
import { mountTable } from '../mounts/mount-table.ts';
import { orphanPods, type PodLife } from '../pods/orphan-pods.ts';
import { isWithin, unlessMissing } from '../text/file-path.ts';
import { minimumAge } from './minimum-age.ts';

/** The file in which the kubelet describes a CSI volume, beside its mount point. */
export const VOLUME_FILE = 'vol_data.json';
export const CSI_PLUGIN = 'kubernetes.io~csi';

/** What is left of one CSI volume of a pod that seems to be gone. */
export interface LeftMetadata {
  readonly podUid: string;
  readonly volume: string;
  /** The volume's directory, as the kubelet sees it. */
  readonly folder: string;
  /** The inode of the file. It distinguishes this file from a later one. */
  readonly inode: string;
  readonly ageMs: number;
  /** The kubelet may be removing it right now, for so long at most; 0 if it is old enough. */
  readonly freshForMs: number;
  /** Why the file is not the only leftover: a mount, or other files. */
  readonly hindrance?: string;
  readonly life: PodLife;
  readonly origin: Origin;
}

export interface VolumeMetadata {
  readonly left: readonly LeftMetadata[];
  /** Pod directories that could not be read, and why. */
  readonly unread: readonly UnknownReason[];
  readonly seenAt: Date;
}

export const volumeMetadata = defineEvidence<VolumeMetadata>({
  id: 'volume-metadata',
  title: 'What is left of CSI volumes of pods that are gone',
  collect: async (snapshot) => {
    const { root, process } = await snapshot.of(kubelet);
    const view = `/proc/${process?.pid ?? 1}/root`;
    const path = `${view}${root}/pods`;
    const uids = (await unlessMissing(snapshot.node.ask('folder', { path }))) ?? [];
    const seenAt = snapshot.node.now();
    if (uids.length === 0) return { left: [], unread: [], seenAt };
    const { lifeOf } = await snapshot.of(orphanPods);
    const left: LeftMetadata[] = [];
    const unread: UnknownReason[] = [];
    let asked = 0;
    for (const podUid of uids.toSorted()) {
      const life = await lifeOf(podUid);
      if (life.state === 'live') continue;
      asked += 1;
      if (asked > METADATA_PODS_MAX) {
        unread.push({ why: `more than ${METADATA_PODS_MAX} directories of pods that are gone` });
        break;
      }
      const found = await attempt(leftOf(snapshot, podUid, life, { view, root }));
      if (found.known) left.push(...found.value);
      else unread.push(found);
    }
    return { left, unread, seenAt };
  },
});

async function leftOf(
  snapshot: Snapshot,
  podUid: string,
  life: PodLife,
  { view, root }: { readonly view: string; readonly root: string },
): Promise<readonly LeftMetadata[]> {
  const plugin = `${root}/pods/${podUid}/volumes/${CSI_PLUGIN}`;
  // Reads names only, so that no mount below is accessed.
  const tree = snapshot.node.ask('tree', { path: `${view}${plugin}`, levels: ['*'] });
  const volumes = (await unlessMissing(tree)) ?? [];
  const minimumAgeMs = optionValue(minimumAge, snapshot.settings) ?? METADATA_AGE_MS;
  const left: LeftMetadata[] = [];
  for (const { folder: volume, names, failure } of volumes) {
    if (failure === undefined && !names.includes(VOLUME_FILE)) continue;
    const folder = `${plugin}/${volume}`;
    // The volume is still mounted, so this is not a leftover.
    if (life.state === 'orphan' && (await isMountedHere(snapshot, folder))) continue;
    const said = failure ?? (await mountedIn(snapshot, folder, names));
    const file = `${view}${folder}`;
    const seen = await factsOf(snapshot, file, said === undefined ? names : [VOLUME_FILE]);
    if (!seen) continue; // It was removed in the meantime.
    const freshForMs = Math.max(0, minimumAgeMs - seen.ageMs);
    const hindrance = said ?? seen.hindrance;
    const facts = { ...seen, podUid, volume, folder, freshForMs, life, origin: { file } };
    left.push(defined({ ...facts, hindrance }));
  }
  return left;
}

async function isMountedHere(snapshot: Snapshot, folder: string): Promise<boolean> {
  const { mounts } = await snapshot.of(mountTable);
  return mounts.some(({ target }) => isWithin(target, folder));
}

/** Reads all namespaces before any of the names is checked. */
async function mountedIn(
  snapshot: Snapshot,
  folder: string,
  names: readonly string[],
): Promise<string | undefined> {
  const [all, table] = await Promise.all([snapshot.of(mountNamespaces), snapshot.of(mountTable)]);
  const [unseen] = all.notSeen;
  if (unseen !== undefined) return `not every mount of the node can be seen: ${unseen}`;
  const on = mountsOnPaths(all.namespaces, table);
  for (const name of names) {
    const [first] = on(`${folder}/${name}`);
    if (!first) continue;
    const { processName, pid } = first.namespace;
    return `${name} is still mounted, as ${processName} (pid ${pid}) sees it`;
  }
  return undefined;
}

async function factsOf(
  { node }: Snapshot,
  path: string,
  names: readonly string[],
): Promise<Pick<LeftMetadata, 'inode' | 'ageMs' | 'hindrance'> | undefined> {
  const [entries, folder] = await Promise.all([
    node.ask('entries', { path, names }),
    unlessMissing(node.ask('status', { path })),
  ]);
  const file = entries.find(({ name }) => name === VOLUME_FILE)?.status;
  if (!file || !folder) return undefined;
  const ageMs = node.now().getTime() - Math.max(folder.modifiedMs, file.modifiedMs);
  const other = entries.find(
    ({ name, isEmpty }) => name !== VOLUME_FILE && !(name === 'mount' && isEmpty === true),
  );
  const hindrance =
    file.type !== 'file'
      ? `${VOLUME_FILE} is a ${file.type}`
      : other &&
        `${other.name} lies there too${other.isEmpty === false ? ', and is not empty' : ''}`;
  return defined({ inode: file.inode, ageMs, hindrance });
}
