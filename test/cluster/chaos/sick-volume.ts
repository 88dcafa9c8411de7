import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { mountHungVolume } from '../hung-volume.ts';
import type { SharedCluster } from '../shared-cluster.ts';

const PLACE = 'kubernetes.io~csi/data/mount';

/** A mount whose server does not answer, of a pod that is gone: the kubelet of its node hangs. */
export interface SickVolume {
  readonly isMounted: () => boolean;
  /** Once it is unmounted: the file beside it would be another fault. */
  readonly clean: () => Promise<void>;
}

export async function makeSickVolume(
  cluster: SharedCluster,
  nodeName: string,
): Promise<SickVolume> {
  const node = cluster.node(nodeName);
  const { podUid, target } = await mountHungVolume(node, randomUUID(), PLACE);
  const isMounted = () => {
    return readFileSync(`/proc/${node.pid}/mountinfo`, 'utf8').includes(` ${target} `);
  };
  return {
    isMounted,
    clean: async () => {
      if (isMounted()) throw new Error(`${target} is still mounted`);
      const folder = node.outside(join(node.kubeletRoot, 'pods', podUid));
      if (existsSync(folder)) await rm(folder, { recursive: true, force: true });
    },
  };
}
