import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Break } from '../break.ts';
import { PLACES } from '../places.ts';
import type { PracticeNode } from '../practice-node.ts';
import { practicePod } from '../practice-pod.ts';
import { HABITS } from './kubelet-habits.ts';
import { leave, leftoverName, letItBeHeld, PLUGIN, VOLUME } from './leftover.ts';
import { leaveOrphan, makeOlder, podFolder, writeFile, writeVolumeFile } from './orphan.ts';
import { runPod } from './pod-life.ts';
import { lookAlikesOf } from './variants.ts';

const LIVE = 'c0a10000-0000-4000-8000-000000000411';
const ORPHAN = 'c0a10000-0000-4000-8000-000000000412';
const SCRATCH = { name: 'scratch', emptyDir: {} };

/** Runs a pod with an emptyDir; returns the directory of its volumes. */
async function runLivePod(node: PracticeNode): Promise<string> {
  const mounts = { app: [{ name: 'scratch', mountPath: '/scratch' }] };
  await runPod(node, practicePod({ name: 'ledger', uid: LIVE, volumes: [SCRATCH], mounts }));
  return join(podFolder(LIVE), 'volumes');
}

/** Directories that resemble a leftover of a volume, but are none. */
export const leftoverLookAlikes: readonly Break[] = [
  ...lookAlikesOf('leftover-volume-directory', [
    {
      variant: 'names-that-resemble',
      about: 'directories beside a volume have names similar to its leftovers',
      make: async (node) => {
        const folder = join(await runLivePod(node), PLUGIN);
        const endings = [
          '.deleting~',
          '.deleting~1a',
          '.deleting-1',
          '.deleting',
          '.deleting~12345678901',
        ];
        for (const ending of endings) leave(join(folder, `${VOLUME}${ending}`));
        leave(join(folder, 'deleting~7'));
      },
    },
    {
      variant: 'file-of-such-a-name',
      about: 'a file beside a volume has the name of a leftover',
      make: async (node) => {
        const folder = join(await runLivePod(node), PLUGIN);
        mkdirSync(folder, { recursive: true });
        const file = join(folder, leftoverName(VOLUME, 1));
        writeFileSync(file, 'a list of what is to be deleted\n');
        makeOlder(file);
      },
    },
    {
      variant: 'teardown-under-way',
      about: 'a plugin has just renamed a volume, and is about to delete it',
      make: async (node) => {
        const left = join(await runLivePod(node), PLUGIN, leftoverName(VOLUME, 1));
        writeFile(join(left, 'ibdata1'), 'what is being deleted\n');
      },
    },
    {
      variant: 'folders-in-a-volume',
      about: 'a program has directories in its own volume with the names of leftovers',
      make: async (node) => {
        const volume = join(await runLivePod(node), 'kubernetes.io~empty-dir/scratch');
        for (let index = 0; index < 12; index += 1)
          leave(join(volume, leftoverName('backup', index)));
        leave(join(volume, '.deleting'));
      },
    },
    {
      variant: 'folders-beside-the-volumes',
      about:
        'such names exist outside of volumes: among the plugins, and in the directory of a pod',
      make: async (node) => {
        await runLivePod(node);
        leave(join(PLACES.kubeletRoot, 'plugins', 'tosdisk', leftoverName(VOLUME, 1)));
        leave(join(podFolder(LIVE), 'plugins', PLUGIN, leftoverName(VOLUME, 1)));
      },
    },
    {
      variant: 'held-without-leftovers',
      about:
        'a container holds the mount of a volume that the node has unmounted, without leftovers',
      make: async (node) => {
        const volume = join(await runLivePod(node), PLUGIN, VOLUME);
        mkdirSync(volume, { recursive: true });
        await letItBeHeld(node, 'leftover-volume-directory', volume);
      },
    },
    {
      variant: 'cleaned-by-the-kubelet',
      about: 'a deleted pod has leftovers, and a newer kubelet removes them itself',
      kubelet: HABITS.removesEmptyFolders,
      make: async (node) => {
        await leaveOrphan(ORPHAN, (volumes) => {
          for (let index = 0; index < 12; index += 1) {
            leave(join(volumes, PLUGIN, leftoverName(VOLUME, index)));
          }
        });
        await node.until('the kubelet has removed the pod that is gone', () => {
          return !existsSync(podFolder(ORPHAN));
        });
      },
    },
  ]),
  ...lookAlikesOf('orphaned-volume-metadata', [
    {
      variant: 'volume-file-of-a-live-pod',
      about: 'the metadata file of a CSI volume is beside its mount, and its pod runs',
      make: async (node) => {
        const folder = join(await runLivePod(node), 'kubernetes.io~csi/pvc-7');
        writeVolumeFile(folder, 'pvc-7');
        makeOlder(join(folder, 'vol_data.json'));
        mkdirSync(join(folder, 'mount'));
        await node.run('mount', '-t', 'tmpfs', 'practice', join(folder, 'mount'));
      },
    },
  ]),
];
