import { kubeletVersion } from '../evidence/kubelet/kubelet-version.ts';
import { mountNamespaces } from '../evidence/mounts/mount-namespaces.ts';
import { mountsOnPaths } from '../evidence/mounts/mount-places.ts';
import { mountTable } from '../evidence/mounts/mount-table.ts';
import { storedNamespaces } from '../evidence/mounts/open-mounts.ts';
import { isNamed, naming } from '../evidence/pods/orphan-messages.ts';
import { orphanPods } from '../evidence/pods/orphan-pods.ts';
import { leavesVolumeFolders } from '../evidence/volumes/volume-folders.ts';
import type { Action, Outcome } from '../model/action.ts';
import { attempt, type Snapshot } from '../model/evidence.ts';
import { originText } from '../model/origin.ts';
import { refused } from './handler.ts';
import type { NodeWriter, ProcessPins } from './node-writer.ts';

type GonePod = Pick<Action<'force-unmount' | 'set-aside'>, 'podUid' | 'confirmed' | 'seenGone'>;

/** Nothing of a pod is taken away unless all agree that it is gone, and where one cannot be asked, a person. */
export async function livingPod(
  { podUid, confirmed, seenGone }: GonePod,
  snapshot: Snapshot,
): Promise<Outcome | undefined> {
  const { lifeOf } = await snapshot.of(orphanPods);
  const life = await lifeOf(podUid);
  if (life.state === 'live') {
    const why = `${life.by} (${originText(life.origin)})`;
    const todo = 'bring its storage back; nothing of a pod that lives is taken away';
    return refused(`pod ${podUid} lives`, why, todo);
  }
  if (life.state === 'uncertain') {
    const what = `whether pod ${podUid} lives is not known`;
    const todo = 'make sure that this can be determined, then recover again';
    return refused(what, life.why, todo);
  }
  const isSettled = isNamed(podUid, confirmed) || seenGone === podUid;
  if (life.needsConfirmation === undefined || isSettled) return undefined;
  const what = 'a person must name the pod of which something is taken away';
  const word = naming(podUid, confirmed);
  const todo = `make sure that no pod has the uid ${podUid}, then add --confirm ${word}`;
  return refused(what, life.needsConfirmation, todo);
}

/** Before 1.20.10, 1.21.4 and 1.22 a leftover volume directory blocks the kubelet. */
export async function kubeletLeavesFolders(snapshot: Snapshot): Promise<boolean> {
  const version = await attempt(snapshot.of(kubeletVersion));
  return version.known && leavesVolumeFolders(version.value);
}

/**
 * Removes the empty directories of an orphan's volume, the inner one first, where its kubelet would not.
 * With a new snapshot: a process that has one of them mounted would lose it with the directory.
 */
export async function removeLeftFolders(
  folders: readonly string[],
  asked: GonePod & { readonly process: ProcessPins },
  writer: NodeWriter,
  snapshot: Snapshot,
): Promise<boolean> {
  if (!(await kubeletLeavesFolders(snapshot)) || (await livingPod(asked, snapshot))) return false;
  const { namespaces, notSeen } = await snapshot.of(mountNamespaces);
  const mountsOn = mountsOnPaths(namespaces, await snapshot.of(mountTable));
  const isMounted = folders.some((path) => mountsOn(path).length > 0);
  if (isMounted || notSeen.length > 0 || (await storedNamespaces(snapshot)).length > 0)
    return false;
  let isRemoved = false;
  for (const path of folders) {
    isRemoved = (await writer.removeEmptyFolder(path, asked.process)).state === 'did';
  }
  return isRemoved;
}
