import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Break } from '../break.ts';
import type { PracticeNode } from '../practice-node.ts';
import { type PodObject, practicePod } from '../practice-pod.ts';
import { HABITS } from './kubelet-habits.ts';
import { leaveOrphan, podFolder, volumePath } from './orphan.ts';
import { runPod } from './pod-life.ts';
import { serveVolume } from './served-volume.ts';
import { lookAlikesOf } from './variants.ts';

const LIVE = 'c0a10000-0000-4000-8000-000000000311';
const ORPHAN = 'c0a10000-0000-4000-8000-000000000312';
const SHARE = 'kubernetes.io~nfs/share';

/** Runs a pod whose network volume has a server that answers. */
async function runLivePod(node: PracticeNode, name: string): Promise<PodObject> {
  const pod = practicePod({ name, uid: LIVE, volumes: [], mounts: { app: [] } });
  await runPod(node, pod);
  await serveVolume(node, 'healthy', volumePath(LIVE, SHARE));
  return pod;
}

/** States that resemble a dead mount of a deleted pod, but block nothing. */
export const deadVolumeLookAlikes: readonly Break[] = lookAlikesOf('dead-volume-mount', [
  {
    variant: 'healthy-network-volume',
    about: 'a running pod has a network volume whose server answers',
    make: async (node) => void (await runLivePod(node, 'reader')),
  },
  {
    variant: 'slow-volume',
    about: "the server of a deleted pod's volume answers, but only after seconds",
    kubelet: HABITS.asksEveryServer,
    make: (node) =>
      leaveOrphan(ORPHAN, async (volumes) => {
        await serveVolume(node, 'slow', join(volumes, SHARE));
      }),
  },
  {
    variant: 'answering-volume',
    about: 'the volume of a deleted pod is still mounted, and its server answers',
    make: (node) =>
      leaveOrphan(ORPHAN, async (volumes) => {
        await serveVolume(node, 'healthy', join(volumes, SHARE));
      }),
  },
  {
    variant: 'ended-server',
    about: "the file server of a deleted pod's volume has ended: every access fails at once",
    state: 'benign',
    make: (node) =>
      leaveOrphan(ORPHAN, async (volumes) => {
        (await serveVolume(node, 'healthy', join(volumes, SHARE))).end();
      }),
  },
  {
    variant: 'silent-archive',
    about: 'the server of a mount outside the kubelet, such as an archive, stops responding',
    make: async (node) => {
      (await serveVolume(node, 'healthy', '/mnt/archive')).stopResponding();
    },
  },
  {
    variant: 'covered-volume',
    about: 'another mount covers the silent volume of a deleted pod, so nothing reaches it',
    make: (node) =>
      leaveOrphan(ORPHAN, async (volumes) => {
        const volume = join(volumes, SHARE);
        const server = await serveVolume(node, 'healthy', volume);
        await node.run('mount', '-t', 'tmpfs', 'practice', volume);
        server.stopResponding();
      }),
  },
  {
    variant: 'pod-on-its-way-out',
    about: 'a pod is being deleted and still runs; its volume is mounted, and its server answers',
    make: async (node) => {
      const pod = await runLivePod(node, 'leaver');
      const metadata = { ...pod.metadata, deletionTimestamp: new Date().toISOString() };
      node.put({ ...pod, metadata: { ...metadata, deletionGracePeriodSeconds: 3600 } });
      mkdirSync(join(podFolder(LIVE), 'volumes/kubernetes.io~empty-dir/.deleting'), {
        recursive: true,
      });
    },
  },
]);
