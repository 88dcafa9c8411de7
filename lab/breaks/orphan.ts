import { chmodSync, mkdirSync, renameSync, rmdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PLACES } from '../places.ts';

const TWO_HOURS_S = 2 * 3600;

/** A volume as in the pod's directory: "kubernetes.io~nfs/share". */
export function volumePath(podUid: string, volume: string): string {
  return join(podFolder(podUid), 'volumes', volume);
}

export function podFolder(podUid: string): string {
  return join(PLACES.kubeletRoot, 'pods', podUid);
}

/**
 * Creates the directory of a deleted pod, as a forced deletion leaves it. It is filled under
 * another path and renamed last, with its mounts: a kubelet would remove an empty one.
 */
export async function leaveOrphan<T>(
  podUid: string,
  fill: (volumes: string) => Promise<T> | T,
): Promise<T> {
  const aside = join(PLACES.kubeletRoot, 'orphans-to-be');
  const folder = join(aside, podUid);
  mkdirSync(join(folder, 'volumes'), { recursive: true });
  const filled = await fill(join(folder, 'volumes'));
  renameSync(folder, podFolder(podUid));
  rmdirSync(aside);
  return filled;
}

/** The metadata file that the kubelet writes beside the mount of every CSI volume. */
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

/** Makes a file or directory older. A later change of a directory makes it young again. */
export function makeOlder(path: string): void {
  const then = Date.now() / 1000 - TWO_HOURS_S;
  utimesSync(path, then, then);
}

/** A directory with a file, so that it is not empty. */
export function writeFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
