import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { killIfThere } from '../rig/cgroup-tree.ts';
import { childOf } from '../rig/private-namespaces.ts';
import type { SharedCluster } from './shared-cluster.ts';

const SERVER = join(import.meta.dirname, '../rig/hung-fuse.ts');

export interface HungVolume {
  /** The pod that nobody knows. */
  readonly podUid: string;
  /** As the node calls it. */
  readonly target: string;
  /** Frees whoever still waits. */
  stop(): Promise<void>;
}

/**
 * A volume of a pod that nobody knows, whose server takes every request and answers none:
 * `place` is what lies below pods/<uid>/volumes, such as "kubernetes.io~csi/data/mount".
 */
export async function mountHungVolume(
  cluster: SharedCluster,
  podUid: string,
  place: string,
): Promise<HungVolume> {
  const target = join(cluster.kubeletRoot, 'pods', podUid, 'volumes', place);
  await mkdir(cluster.outside(target), { recursive: true });
  const [program = '', ...words] = [...cluster.enter, process.execPath, SERVER, target];
  const server = spawn(program, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(server.stdout, 'data');
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
