import { kubeletVersion } from '../evidence/kubelet/kubelet-version.ts';
import { mountNamespaces } from '../evidence/mounts/mount-namespaces.ts';
import { mountsOnPaths } from '../evidence/mounts/mount-places.ts';
import { mountTable } from '../evidence/mounts/mount-table.ts';
import { storedNamespaces } from '../evidence/mounts/open-mounts.ts';
import { leavesVolumeFolders } from '../evidence/volumes/volume-folders.ts';
import { attempt } from '../model/attempt.ts';
import type { Snapshot } from '../model/evidence.ts';
import { livingPod } from './living-pod.ts';
import type { NodeWriter, ProcessPins } from './node-writer.ts';

/** Before 1.20.10, 1.21.4 and 1.22 a leftover volume folder blocks the kubelet. */
export async function kubeletLeavesFolders(snapshot: Snapshot): Promise<boolean> {
  const version = await attempt(snapshot.of(kubeletVersion));
  return version.known && leavesVolumeFolders(version.value);
}

/**
 * Removes the empty folders of an orphan's volume, the inner one first, where its kubelet would not.
 * With a new snapshot: a process that has one of them mounted would lose it with the folder.
 */
export async function removeLeftFolders(
  folders: readonly string[],
  asked: Parameters<typeof livingPod>[0] & { readonly process: ProcessPins },
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
