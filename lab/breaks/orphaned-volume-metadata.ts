import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Break, Expected } from '../break.ts';
import { PLACES } from '../places.ts';
import type { PracticeNode } from '../practice-node.ts';
import { HABITS } from './kubelet-habits.ts';
import { letItBeHeld } from './leftover.ts';
import {
  leaveOrphan,
  makeOlder,
  podFolder,
  volumeFileText,
  writeFile,
  writeVolumeFile,
} from './orphan.ts';
import { faultsOf } from './variants.ts';

const FAULT = 'orphaned-volume-metadata';
const ORPHAN = 'c0a10000-0000-4000-8000-000000000501';
const CLAIM = 'kubernetes.io~csi/pvc-7';

const SET_ASIDE = `${PLACES.kubeletRoot}/kubediag-set-aside`;
const MOVED_FILE = `${SET_ASIDE}/${ORPHAN}/pvc-7/vol_data.json file 0644 0:0 ${volumeFileText('pvc-7').length} bytes`;

const ACTIVE: Expected = {
  ...{ verdict: 'found', state: 'active', repair: 'done' },
  // The file is moved, and the kubelet removes the empty directories.
  must: [`- file ${podFolder(ORPHAN)} directory`, `+ file ${MOVED_FILE}`],
  changes: [`- file ${podFolder(ORPHAN)}/`, `+ file ${SET_ASIDE}`],
};

/** KubeDiag cannot decide: the verdict is unknown, and `recover` changes nothing. */
const LEFT_ALONE: Expected = { verdict: 'unknown', repair: 'none' };

/** A CSI volume was unmounted without the kubelet, so its metadata file outlives the pod. */
async function leaveFile(
  node: PracticeNode,
  more: (folder: string) => Promise<void> | void = () => {},
): Promise<void> {
  const said = statSync(PLACES.kubeletLog).size;
  await leaveOrphan(ORPHAN, async (volumes) => {
    const folder = join(volumes, CLAIM);
    writeVolumeFile(folder, 'pvc-7');
    mkdirSync(join(folder, 'mount'));
    await more(folder);
    // If the kubelet logs another pod, only the age shows that this one will not be removed soon.
    for (const path of [join(folder, 'vol_data.json'), folder]) makeOlder(path);
  });
  await node.until('the kubelet logs an error about the deleted pod', () => {
    const since = readFileSync(PLACES.kubeletLog).subarray(said).toString();
    return since.includes(ORPHAN) || (since.match(COMPLAINT)?.length ?? 0) > 1;
  });
}

/**
 * ... There were a total of 2 errors similar to this. ... numErrs=2
 *
 * The log names only the first of several deleted pods. The second such line comes from a cleanup
 * that began after this pod was left behind.
 */
const COMPLAINT = /There were a total of \d+ errors|numErrs=\d+/g;

export const orphanedVolumeMetadata: readonly Break[] = faultsOf(FAULT, [
  {
    variant: 'active',
    about:
      "the metadata file of a deleted pod's CSI volume was left behind, and blocks the kubelet",
    expected: ACTIVE,
    kubelet: HABITS.removesEmptyFolders,
    make: (node) => leaveFile(node),
  },
  {
    variant: 'old-kubelet-active',
    about: 'the same under a kubelet that does not remove volume directories itself',
    expected: ACTIVE,
    kubelet: HABITS.leavesEmptyFolders,
    make: (node) => leaveFile(node),
  },
  {
    variant: 'data-beside-it',
    about: 'there is data beside the metadata file, which may be the only copy',
    expected: LEFT_ALONE,
    make: (node) =>
      leaveFile(node, (folder) => writeFile(join(folder, 'mount/data.db'), 'precious\n')),
  },
  {
    variant: 'held-elsewhere',
    about: 'a container still holds the mount of the volume whose metadata file was left behind',
    expected: LEFT_ALONE,
    // A newer kubelet removes the empty mount point, which also unmounts it in the container.
    kubelet: HABITS.leavesEmptyFolders,
    make: (node) => leaveFile(node, (folder) => letItBeHeld(node, FAULT, join(folder, 'mount'))),
  },
]);
