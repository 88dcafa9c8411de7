import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Break } from '../break.ts';
import type { PracticeNode } from '../practice-node.ts';
import { practicePod } from '../practice-pod.ts';
import { become, HABITS, lacks } from './kubelet-habits.ts';
import type { Resemblance } from './look-alike.ts';
import { leaveOrphan, podFolder } from './orphan.ts';
import { runPod } from './pod-life.ts';
import { serveVolumes } from './served-volume.ts';

/** What looks like a dead mount of a deleted pod, and blocks nothing. */
type VolumeResemblance = Resemblance & { readonly state?: 'benign' };

const LIVE = 'c0a10000-0000-4000-8000-000000000311';
const ORPHAN = 'c0a10000-0000-4000-8000-000000000312';
const SHARE = 'kubernetes.io~nfs/share';

/** Runs a pod; returns the mount point of its network volume. */
async function runLivePod(node: PracticeNode): Promise<string> {
  const pod = practicePod({ name: 'reader', uid: LIVE, volumes: [], mounts: { app: [] } });
  await runPod(node, pod);
  return join(podFolder(LIVE), 'volumes', SHARE);
}

const healthyVolume: VolumeResemblance = {
  variant: 'healthy-network-volume',
  about: 'a running pod has a network volume whose server answers',
  make: async (node) => {
    await serveVolumes(node, 'healthy', await runLivePod(node));
  },
};

const slowOrphan: VolumeResemblance = {
  variant: 'slow-volume',
  about: "the server of a deleted pod's volume answers, but only after seconds",
  make: async (node) => {
    await become(HABITS.asksEveryServer, node);
    await leaveOrphan(ORPHAN, async (volumes) => {
      await serveVolumes(node, 'slow', join(volumes, SHARE));
    });
  },
  leftOut: lacks(HABITS.asksEveryServer),
};

const answeringOrphan: VolumeResemblance = {
  variant: 'answering-volume',
  about: 'the volume of a deleted pod is still mounted, and its server answers',
  make: async (node) => {
    await leaveOrphan(ORPHAN, async (volumes) => {
      await serveVolumes(node, 'healthy', join(volumes, SHARE));
    });
  },
};

const endedServer: VolumeResemblance = {
  variant: 'ended-server',
  about: "the file server of a deleted pod's volume has ended: every access fails at once",
  state: 'benign',
  make: async (node) => {
    await leaveOrphan(ORPHAN, async (volumes) => {
      (await serveVolumes(node, 'healthy', join(volumes, SHARE))).end();
    });
  },
};

const silentArchive: VolumeResemblance = {
  variant: 'silent-archive',
  about: 'the server of a mount outside the kubelet, such as an archive, stops responding',
  make: async (node) => {
    (await serveVolumes(node, 'healthy', '/mnt/archive')).stopResponding();
  },
};

const coveredVolume: VolumeResemblance = {
  variant: 'covered-volume',
  about: 'another mount covers the silent volume of a deleted pod, so nothing reaches it',
  make: async (node) => {
    await leaveOrphan(ORPHAN, async (volumes) => {
      const volume = join(volumes, SHARE);
      const server = await serveVolumes(node, 'healthy', volume);
      await node.run('mount', '-t', 'tmpfs', 'practice', volume);
      server.stopResponding();
    });
  },
};

const podOnItsWay: VolumeResemblance = {
  variant: 'pod-on-its-way-out',
  about: 'a pod is being deleted and still runs; its volume is mounted, and its server answers',
  make: async (node) => {
    const uid = LIVE;
    const pod = practicePod({ name: 'leaver', uid, volumes: [], mounts: { app: [] } });
    await runPod(node, pod);
    await serveVolumes(node, 'healthy', join(podFolder(uid), 'volumes', SHARE));
    const metadata = { ...pod.metadata, deletionTimestamp: new Date().toISOString() };
    node.put({ ...pod, metadata: { ...metadata, deletionGracePeriodSeconds: 3600 } });
    mkdirSync(join(podFolder(uid), 'volumes/kubernetes.io~empty-dir/.deleting'), {
      recursive: true,
    });
  },
};

export const deadVolumeLookAlikes: readonly Break[] = [
  ...[healthyVolume, slowOrphan, answeringOrphan],
  ...[endedServer, silentArchive, coveredVolume, podOnItsWay],
].map(({ state, ...each }) => ({
  kind: 'look-alike',
  fault: 'dead-volume-mount',
  expected: { verdict: 'clear', repair: 'none', ...(state ? { state } : {}) },
  ...each,
}));
