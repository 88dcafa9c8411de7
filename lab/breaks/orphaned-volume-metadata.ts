import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Break, Expected } from '../break.ts';
import { PLACES } from '../places.ts';
import type { PracticeNode } from '../practice-node.ts';
import { become, HABITS, needs } from './kubelet-habits.ts';
import { letItBeHeld } from './leftover.ts';
import {
  leaveOrphan,
  makeOlder,
  podFolder,
  volumeFileText,
  writeFile,
  writeVolumeFile,
} from './orphan.ts';

const FAULT = 'orphaned-volume-metadata';
const ORPHAN = 'c0a10000-0000-4000-8000-000000000501';
const CLAIM = 'kubernetes.io~csi/pvc-7';

const SET_ASIDE = `${PLACES.kubeletRoot}/kubediag-set-aside`;
const KEPT = `${SET_ASIDE}/${ORPHAN}/pvc-7/vol_data.json file 0644 0:0 ${volumeFileText('pvc-7').length} bytes`;

const ACTIVE: Expected = {
  ...{ verdict: 'found', state: 'active', repair: 'done' },
  // The whole file gets another place, and the kubelet takes away what is empty.
  must: [`- file ${podFolder(ORPHAN)} folder`, `+ file ${KEPT}`],
  changes: [`- file ${podFolder(ORPHAN)}/`, `+ file ${SET_ASIDE}`],
};

/** What of it is not ours to decide is told as not known, and `recover` does not touch it. */
const LEFT_ALONE: Expected = { verdict: 'unknown', repair: 'none' };

/** Somebody unmounted a CSI volume past the kubelet, so its file is left of a pod that is gone. */
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
    // Where the kubelet names another pod, its age alone tells that nobody is about to remove it.
    for (const path of [join(folder, 'vol_data.json'), folder]) makeOlder(path);
  });
  await node.until('the kubelet complains of the pod that is gone', () => {
    const since = readFileSync(PLACES.kubeletLog).subarray(said).toString();
    return since.includes(ORPHAN) || (since.match(COMPLAINT)?.length ?? 0) > 1;
  });
}

/**
 * ... There were a total of 2 errors similar to this. ... numErrs=2
 *
 * Of several pods that are gone only the first is named. The second time the clean-up began after this
 * one was left.
 */
const COMPLAINT = /There were a total of \d+ errors|numErrs=\d+/g;

function named(variant: string): Pick<Break, 'kind' | 'fault' | 'variant'> {
  return { kind: 'fault', fault: FAULT, variant };
}

export const orphanedVolumeMetadata: readonly Break[] = [
  {
    ...named('active'),
    about:
      'the file of a CSI volume is left of a pod that is gone, and the kubelet stumbles over it',
    expected: ACTIVE,
    ...needs(HABITS.removesEmptyFolders),
    make: async (node) => {
      await become(HABITS.removesEmptyFolders, node);
      await leaveFile(node);
    },
  },
  {
    ...named('old-kubelet-active'),
    about: 'the same under a kubelet that removes no folder of a volume by itself',
    expected: ACTIVE,
    ...needs(HABITS.leavesEmptyFolders),
    make: async (node) => {
      await become(HABITS.leavesEmptyFolders, node);
      await leaveFile(node);
    },
  },
  {
    ...named('data-beside-it'),
    about: 'beside the file of the volume lies data, which may be the only copy',
    expected: LEFT_ALONE,
    make: (node) =>
      leaveFile(node, (folder) => writeFile(join(folder, 'mount/data.db'), 'precious\n')),
  },
  {
    ...named('held-elsewhere'),
    about: 'a container still holds the mount of the volume of which the file is left',
    expected: LEFT_ALONE,
    // A newer one removes the empty folder, and with it the kernel takes the mount from the container.
    ...needs(HABITS.leavesEmptyFolders),
    make: async (node) => {
      await become(HABITS.leavesEmptyFolders, node);
      await leaveFile(node, (folder) => letItBeHeld(node, FAULT, join(folder, 'mount')));
    },
  },
];
