import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { childOf, killIfThere } from '../../lab/process-mark.ts';
import type { ClusterNode } from '../../tools/cluster/node.ts';

const SERVER = join(import.meta.dirname, '../rig/hung-fuse.ts');

export interface HungVolume {
  /** The pod that nobody knows. */
  readonly podUid: string;
  /** As the node calls it. */
  readonly target: string;
  /** Releases all blocked processes. */
  stop(): Promise<void>;
}

/** As the kubelet writes it beside the mount of every CSI volume. */
const CSI_DATA = {
  attachmentID: 'csi-5f2b0c',
  driverName: 'cephfs.csi.ceph.com',
  nodeName: 'node',
  specVolID: 'data',
  volumeHandle: '0001-0024-data',
  volumeLifecycleMode: 'Persistent',
};

/**
 * A volume of an orphaned pod, whose server takes every request and answers none:
 * `place` is what lies below pods/<uid>/volumes, such as "kubernetes.io~csi/data/mount". Comes back
 * when the kubelet hangs on it.
 */
export async function mountHungVolume(
  cluster: ClusterNode,
  podUid: string,
  place: string,
): Promise<HungVolume> {
  const target = join(cluster.kubeletRoot, 'pods', podUid, 'volumes', place);
  const { kubelet } = cluster.parts;
  // It removes an empty directory of a pod it does not know within two seconds.
  kubelet.pause();
  await mkdir(cluster.outside(target), { recursive: true });
  if (place.startsWith('kubernetes.io~csi/')) {
    const file = join(dirname(cluster.outside(target)), 'vol_data.json');
    await writeFile(file, JSON.stringify(CSI_DATA));
  }
  const text = [...cluster.enter, process.execPath, SERVER, target];
  const server = spawn('env', text, { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(server.stdout, 'data');
  kubelet.resume();
  await untilWaiting(kubelet.pid);
  const pid = await childOf(server.pid ?? 0);
  return {
    podUid,
    target,
    stop: async () => {
      const exit = once(server, 'exit');
      killIfThere(pid);
      await exit;
    },
  };
}

const WAITING_MS = 30_000;
const CHECK_INTERVAL_MS = 50;

/** It checks the volumes of unknown pods every two seconds. */
async function untilWaiting(pid: number): Promise<void> {
  const tasks = `/proc/${pid}/task`;
  const deadline = Date.now() + WAITING_MS;
  const isWaiting = (tid: string) =>
    readFileSync(`${tasks}/${tid}/wchan`, 'utf8') === 'request_wait_answer';
  while (!readdirSync(tasks).some(isWaiting)) {
    if (Date.now() > deadline) throw new Error('the kubelet does not come to the dead mount');
    await sleep(CHECK_INTERVAL_MS);
  }
}
