import { chmodSync, mkdirSync, renameSync, rmdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PLACES } from '../places.ts';

/** As the kubelet calls it: "kubernetes.io~nfs/share" of one pod. */
export function volumePath(podUid: string, volume: string): string {
  return join(podFolder(podUid), 'volumes', volume);
}

export function podFolder(podUid: string): string {
  return join(PLACES.kubeletRoot, 'pods', podUid);
}

/**
 * Leaves the folder of a pod that nobody knows any more, as a pod that was deleted by force does. It
 * is filled elsewhere and gets its name last, mounts included: a kubelet that comes by while it is
 * still empty would take it away.
 */
export async function leaveOrphan(
  podUid: string,
  fill: (volumes: string) => Promise<void> | void,
): Promise<void> {
  const aside = join(PLACES.kubeletRoot, 'orphans-to-be');
  const folder = join(aside, podUid);
  mkdirSync(join(folder, 'volumes'), { recursive: true });
  await fill(join(folder, 'volumes'));
  renameSync(folder, podFolder(podUid));
  rmdirSync(aside);
}

/** As the kubelet writes it beside the mount of every CSI volume. */
export function writeVolumeFile(folder: string, name: string): void {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'vol_data.json');
  writeFileSync(file, volumeFileText(name));
  chmodSync(file, 0o644);
}

export function volumeFileText(name: string): string {
  return JSON.stringify({
    attachmentID: 'csi-5f2b0c',
    driverName: 'cephfs.csi.ceph.com',
    nodeName: 'practice',
    specVolID: name,
    volumeHandle: `0001-0024-${name}`,
    volumeLifecycleMode: 'Persistent',
  });
}

const HOUR_S = 3600;

/** Makes a file or folder so many hours older. Whatever is put into a folder makes it young again. */
export function makeOlder(path: string, hours = 2): void {
  const then = Date.now() / 1000 - hours * HOUR_S;
  utimesSync(path, then, then);
}

/** A folder with its file: what is in it makes it not empty. */
export function writeFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
