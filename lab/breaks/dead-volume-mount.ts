import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Break, Expected } from '../break.ts';
import type { PracticeNode } from '../practice-node.ts';
import { practicePod } from '../practice-pod.ts';
import { HABITS } from './kubelet-habits.ts';
import { leaveOrphan, podFolder, volumePath, writeVolumeFile } from './orphan.ts';
import { runPod } from './pod-life.ts';
import { hangKubelet, serveVolume, type VolumeServer } from './served-volume.ts';
import { faultsOf, type Variant } from './variants.ts';

const FAULT = 'dead-volume-mount';
const ORPHAN = 'c0a10000-0000-4000-8000-000000000301';
const OTHER_ORPHAN = 'c0a10000-0000-4000-8000-000000000302';
const LIVE = 'c0a10000-0000-4000-8000-000000000303';

const SHARE = 'kubernetes.io~nfs/share';
const CLAIM = 'kubernetes.io~csi/pvc-7';

/** Leaves a network volume of a deleted pod; its server still answers. */
function leaveVolume(node: PracticeNode, podUid: string, volume: string): Promise<VolumeServer> {
  return leaveOrphan(podUid, (volumes) => serveVolume(node, 'healthy', join(volumes, volume)));
}

function leaveCsiVolume(node: PracticeNode): Promise<VolumeServer> {
  return leaveOrphan(ORPHAN, (volumes) => {
    writeVolumeFile(join(volumes, CLAIM), 'pvc-7');
    return serveVolume(node, 'healthy', join(volumes, CLAIM, 'mount'));
  });
}

/** Processes that end with the mount: its server, and abandoned readers of a check. */
const FREED = [
  `- mount ${podFolder(ORPHAN)}/`,
  '- process kubediag lab-part file-server',
  '- process kubediag-reader',
];
const SHARE_GONE = `- mount ${volumePath(ORPHAN, SHARE)} `;
const CLAIM_GONE = `- mount ${volumePath(ORPHAN, CLAIM)}/mount `;
/** The kubelet removes the pod's directory, except the metadata file of a CSI volume. */
const GONE = [...FREED, `- file ${podFolder(ORPHAN)}`];
const MOUNT_GONE = [...FREED, `- file ${volumePath(ORPHAN, CLAIM)}/mount`];

const ACTIVE: Expected = {
  ...{ verdict: 'found', state: 'active', repair: 'done' },
  must: [SHARE_GONE, `- file ${volumePath(ORPHAN, SHARE)} `],
  changes: GONE,
};

const BY_SUBPATH = `${podFolder(ORPHAN)}/volume-subpaths/share/app/0`;

const active: readonly Variant[] = [
  {
    variant: 'nfs-active',
    stopsPods: 'hung',
    about: "the server of a deleted pod's volume stops responding, and the kubelet hangs on it",
    tour: {
      title: 'The mount that nobody can touch',
      story:
        'The server of a volume stops responding: its process hangs, or its network is down. Every ' +
        'process that touches the mount hangs, at some point the kubelet too, as it cleans up after a ' +
        'pod. From then on new pods stay Pending on a node that reports Ready.',
    },
    expected: ACTIVE,
    kubelet: HABITS.asksEveryServer,
    make: async (node) => {
      await hangKubelet(node, await leaveVolume(node, ORPHAN, SHARE));
    },
  },
  {
    variant: 'csi-active',
    stopsPods: 'hung',
    about: "the server of a deleted pod's CSI volume stops responding, under a newer kubelet",
    expected: {
      ...ACTIVE,
      must: [CLAIM_GONE],
      changes: MOUNT_GONE,
      // The metadata file of the volume stays, which blocks the kubelet next.
      afterwards: ['orphaned-volume-metadata'],
    },
    kubelet: HABITS.asksCsiServersAlone,
    make: async (node) => {
      await hangKubelet(node, await leaveCsiVolume(node));
    },
  },
  {
    variant: 'with-subpath-active',
    stopsPods: 'hung',
    about: 'the silent volume of a deleted pod is mounted by subPath too',
    expected: {
      ...ACTIVE,
      // A kubelet of that age leaves the mount points of subPaths, and so the pod's directory.
      must: [SHARE_GONE, `- mount ${BY_SUBPATH} `],
      changes: [...GONE, `+ file ${BY_SUBPATH} directory`],
    },
    kubelet: HABITS.asksEveryServer,
    make: async (node) => {
      const server = await leaveOrphan(ORPHAN, async (volumes) => {
        const volume = join(volumes, SHARE);
        const place = join(dirname(volumes), 'volume-subpaths/share/app/0');
        const started = await serveVolume(node, 'healthy', volume);
        mkdirSync(place, { recursive: true });
        await node.run('mount', '--bind', volume, place);
        return started;
      });
      await hangKubelet(node, server);
    },
  },
  {
    variant: 'two-active',
    stopsPods: 'hung',
    about:
      'the servers of two volumes of deleted pods stop responding, and the kubelet hangs on the first',
    expected: {
      ...ACTIVE,
      findings: 2,
      // After the repair of the first mount, the kubelet hangs on the second.
      afterwards: [FAULT],
    },
    kubelet: HABITS.asksEveryServer,
    make: async (node) => {
      const first = await leaveVolume(node, ORPHAN, SHARE);
      const second = await leaveVolume(node, OTHER_ORPHAN, 'kubernetes.io~cephfs/data');
      await hangKubelet(node, first, second);
    },
  },
];

/** A container uses the same filesystem: a forced unmount for the orphan would break it. */
const shared: readonly Variant[] = [
  {
    variant: 'shared-refused',
    stopsPods: 'hung',
    about: 'a container of a running pod has the filesystem mounted on which the kubelet hangs',
    expected: { verdict: 'found', state: 'active', repair: 'refused' },
    kubelet: HABITS.asksEveryServer,
    make: async (node) => {
      const server = await leaveVolume(node, ORPHAN, SHARE);
      await stopRespondingBelow(node, volumePath(ORPHAN, SHARE), server);
    },
  },
  {
    variant: 'csi-shared-refused',
    stopsPods: 'hung',
    about: 'the same for a CSI volume: one mount belongs to a deleted pod, and one is in use',
    expected: { verdict: 'found', state: 'active', repair: 'refused' },
    kubelet: HABITS.asksCsiServersAlone,
    make: async (node) => {
      const server = await leaveCsiVolume(node);
      await stopRespondingBelow(node, join(volumePath(ORPHAN, CLAIM), 'mount'), server);
    },
  },
];

/** A storage fault of a running pod: reported, and never repaired by force. */
const ofLivePod: Variant = {
  variant: 'live-pod-refused',
  about: 'the server of a volume of a running pod stops responding',
  expected: { verdict: 'found', state: 'active', repair: 'refused' },
  make: async (node) => {
    await runPod(
      node,
      practicePod({ name: 'reader', uid: LIVE, volumes: [], mounts: { app: [] } }),
    );
    (await serveVolume(node, 'healthy', volumePath(LIVE, SHARE))).stopResponding();
  },
};

/** A running pod mounts the volume, and then its server stops responding. */
async function stopRespondingBelow(
  node: PracticeNode,
  path: string,
  server: VolumeServer,
): Promise<void> {
  const pod = practicePod({
    ...{ name: 'reader', uid: LIVE, volumes: [{ name: 'share', hostPath: { path } }] },
    mounts: { app: [{ name: 'share', mountPath: '/share' }] },
  });
  await runPod(node, pod);
  await hangKubelet(node, server);
}

const waiting: readonly Variant[] = [
  {
    variant: 'csi-latent',
    about: "the server of a deleted pod's CSI volume stops responding, and nothing touches it yet",
    expected: {
      verdict: 'found',
      state: 'latent',
      repair: 'done',
      recoverWith: ['--latent'],
      must: [CLAIM_GONE],
      changes: MOUNT_GONE,
      afterwards: ['orphaned-volume-metadata'],
    },
    kubelet: HABITS.asksEveryServer,
    make: async (node) => {
      (await leaveCsiVolume(node)).stopResponding();
    },
  },
  {
    variant: 'nfs-benign',
    about: 'a silent volume of a deleted pod, which a newer kubelet does not touch',
    expected: { verdict: 'clear', state: 'benign', repair: 'none' },
    kubelet: HABITS.asksCsiServersAlone,
    make: async (node) => {
      (await leaveVolume(node, ORPHAN, SHARE)).stopResponding();
    },
  },
];

export const deadVolumeMount: readonly Break[] = faultsOf(FAULT, [
  ...active,
  ...shared,
  ofLivePod,
  ...waiting,
]);
