import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Break, Expected } from '../break.ts';
import type { PracticeNode } from '../practice-node.ts';
import { practicePod } from '../practice-pod.ts';
import { HABITS, notWithReal } from './kubelet-habits.ts';
import {
  leave,
  leftoverName,
  letItBeHeld,
  logTeardown,
  PLUGIN,
  rename,
  renameAsGo,
  tearDown,
  VOLUME,
} from './leftover.ts';
import { leaveOrphan, makeOlder, podFolder, volumePath, writeFile } from './orphan.ts';
import { runPod } from './pod-life.ts';
import { faultsOf, type Variant } from './variants.ts';

const FAULT = 'leftover-volume-directory';
const ORPHAN = 'c0a10000-0000-4000-8000-000000000401';
const OTHER_ORPHAN = 'c0a10000-0000-4000-8000-000000000402';
const LIVE = 'c0a10000-0000-4000-8000-000000000403';
/** The number of leftovers in most variants. */
const PILE = 12;
const MANY = 5_000;

/** The repair removes every leftover, and nothing else of the pod. */
function pileGone(podUid: string): readonly string[] {
  const volume = volumePath(podUid, `${PLUGIN}/${VOLUME}`);
  return Array.from(
    { length: PILE },
    (_, index) => `- file ${leftoverName(volume, index)} directory`,
  );
}

/** After the repair the kubelet can remove the directory of the orphaned pod. */
const ACTIVE: Expected = {
  ...{ verdict: 'found', state: 'active', repair: 'done' },
  must: [`- file ${podFolder(ORPHAN)} directory`],
  changes: [`- file ${podFolder(ORPHAN)}/`],
};
/** The directory of the pod stays, because it is not empty after the repair. */
const PILE_GONE: Expected = { ...ACTIVE, must: pileGone(ORPHAN), changes: [] };

function ofOrphan(
  variant: string,
  about: string,
  expected: Expected,
  fill: (plugin: string) => void,
): Variant {
  return {
    ...{ variant, about, expected },
    kubelet: HABITS.leavesEmptyFolders,
    make: () => leaveOrphan(ORPHAN, (volumes) => fill(pluginFolder(volumes))),
  };
}

function pluginFolder(volumes: string): string {
  const folder = join(volumes, PLUGIN);
  mkdirSync(folder, { recursive: true });
  return folder;
}

function leaveMany(folder: string, count: number): void {
  for (let index = 0; index < count; index += 1) leave(join(folder, leftoverName(VOLUME, index)));
}

const ofOrphans: readonly Variant[] = [
  ofOrphan(
    'nested-active',
    'the leftovers of a volume are torn down as volumes, and leave more leftovers',
    ACTIVE,
    (folder) => {
      leave(join(folder, `${VOLUME}.deleting~765506473`));
      leave(join(folder, `${VOLUME}.deleting~765506473.deleting~096627888`));
      leave(join(folder, `wrapped_token.deleting~1.deleting~2.deleting~3`));
    },
  ),
  ofOrphan(
    'many-active',
    `${MANY.toLocaleString('en')} leftovers in one directory`,
    ACTIVE,
    (folder) => leaveMany(folder, MANY),
  ),
  ofOrphan(
    'filled-refused',
    'the leftover of a volume contains data, because its removal failed halfway',
    { verdict: 'found', state: 'active', repair: 'refused' },
    (folder) => {
      const left = join(folder, leftoverName(VOLUME, 1));
      writeFile(join(left, 'ibdata1'), 'all the data\n');
      makeOlder(left);
    },
  ),
  ofOrphan(
    'some-filled-active',
    'many leftovers, of which one contains data and stays',
    { ...PILE_GONE, afterwards: [FAULT] },
    (folder) => {
      leaveMany(folder, PILE);
      const left = join(folder, leftoverName(VOLUME, PILE));
      writeFile(join(left, 'ibdata1'), 'all the data\n');
      makeOlder(left);
    },
  ),
];

const others: readonly Variant[] = [
  {
    variant: 'exists-active',
    about:
      'a plugin fails a dozen times to rename a volume to a directory that it has just created',
    tour: {
      title: 'The directories that pile up',
      story:
        'To delete a volume, some plugins create a directory, rename the volume to it and delete it. If ' +
        'the rename fails the directory stays, and the next attempt creates another one. After months ' +
        'there are thousands, and the kubelet examines every one of them again and again.',
    },
    expected: PILE_GONE,
    kubelet: HABITS.leavesEmptyFolders,
    make: async (node) => {
      await leaveOrphan(ORPHAN, async (volumes) => {
        const volume = join(pluginFolder(volumes), VOLUME);
        writeFile(join(volume, 'ibdata1'), 'all the data\n');
        await tearDown(volume, PILE, renameAsGo);
      });
      logTeardown(node, ORPHAN, 'file exists');
    },
  },
  {
    variant: 'two-pods-active',
    about: 'two deleted pods have leftovers of two plugins',
    expected: {
      ...ACTIVE,
      findings: 2,
      must: [ORPHAN, OTHER_ORPHAN].map((uid) => `- file ${podFolder(uid)} directory`),
      changes: [ORPHAN, OTHER_ORPHAN].map((uid) => `- file ${podFolder(uid)}/`),
    },
    kubelet: HABITS.leavesEmptyFolders,
    make: async () => {
      await leaveOrphan(ORPHAN, (volumes) => leaveMany(pluginFolder(volumes), PILE));
      await leaveOrphan(OTHER_ORPHAN, (volumes) =>
        leave(join(volumes, 'kubernetes.io~empty-dir', 'wrapped_token.deleting~765506473')),
      );
    },
  },
  {
    variant: 'busy-active',
    about: 'a volume cannot be renamed while it is mounted, and a container still holds that mount',
    expected: { ...ACTIVE, must: pileGone(LIVE), changes: [] },
    leftOut: notWithReal('no real kubelet has a plugin that still renames volumes'),
    make: async (node) => {
      const folder = await runLivePod(node);
      const volume = join(folder, VOLUME);
      mkdirSync(volume);
      await letItBeHeld(node, FAULT, volume, () => tearDown(volume, PILE, rename));
      logTeardown(node, LIVE, 'device or resource busy');
    },
  },
  {
    variant: 'held-refused',
    about: 'a container holds a mount on the leftover itself, which its removal would detach',
    expected: { verdict: 'found', state: 'latent', repair: 'refused', recoverWith: ['--latent'] },
    make: async (node) => {
      const left = join(await runLivePod(node), leftoverName(VOLUME, 1));
      mkdirSync(left);
      await letItBeHeld(node, FAULT, left);
      makeOlder(left);
    },
  },
  {
    variant: 'live-pod-latent',
    about: 'many leftovers of a running pod: they will block the kubelet at its next start',
    expected: {
      ...{ verdict: 'found', state: 'latent', repair: 'done' },
      recoverWith: ['--latent'],
      must: pileGone(LIVE),
    },
    make: async (node) => leaveMany(await runLivePod(node), PILE),
  },
];

/** Runs a pod with a volume of such a plugin; returns its directory. */
async function runLivePod(node: PracticeNode): Promise<string> {
  const pod = practicePod({ name: 'ledger', uid: LIVE, volumes: [], mounts: { app: [] } });
  await runPod(node, pod);
  return pluginFolder(join(podFolder(LIVE), 'volumes'));
}

export const leftoverVolumeDirectory: readonly Break[] = faultsOf(FAULT, [...ofOrphans, ...others]);
