import { cp, readlink, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { killIfThere } from '../../lab/process-mark.ts';
import { containerProcess } from '../rig/container-process.ts';
import type { SharedCluster } from './shared-cluster.ts';

const SLOW = { timeout: 240_000, interval: 500 };

export interface SickPod {
  readonly name: string;
  /** The mount whose source is gone. */
  readonly mount: string;
}

/**
 * A pod whose container cannot start again, because the source of its subPath mount is gone. A new
 * version of its ConfigMap is written as the kubelet does it, only without a wait of a minute.
 */
export async function makeSickPod(
  cluster: SharedCluster,
  nodeName: string,
  name: string,
): Promise<SickPod> {
  const node = cluster.node(nodeName);
  const volumeMounts = [{ name: 'settings', mountPath: '/settings', subPath: 'file' }];
  const { image } = cluster;
  const metadata = { name: 'settings' };
  await cluster.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { file: 'a' } });
  await cluster.apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      nodeName,
      terminationGracePeriodSeconds: 0,
      volumes: [{ name: 'settings', configMap: { name: 'settings' } }],
      containers: [{ name: 'app', image, command: ['sleep', '86400'], volumeMounts }],
    },
  });
  await cluster.kubectl('wait', '--for=condition=Ready', `pod/${name}`, '--timeout=90s');
  const podNow = async () =>
    JSON.parse(await cluster.kubectl('get', 'pod', name, '-o=json')) as Pod;
  const {
    metadata: { uid },
    status,
  } = await podNow();
  const pod = join(node.kubeletRoot, 'pods', uid);
  const volume = node.outside(join(pod, 'volumes/kubernetes.io~configmap/settings'));
  const before = await readlink(join(volume, '..data'));
  await cp(join(volume, before), join(volume, '..next'), { recursive: true });
  await symlink('..next', join(volume, '..data_tmp'));
  await rename(join(volume, '..data_tmp'), join(volume, '..data'));
  await rm(join(volume, before), { recursive: true });
  const id = status.containerStatuses?.[0]?.containerID.replace('containerd://', '') ?? '';
  killIfThere(containerProcess(id));
  const waits = async () => {
    const { waiting } = (await podNow()).status.containerStatuses?.[0]?.state ?? {};
    return waiting?.reason;
  };
  await expect.poll(waits, SLOW).toMatch(/^(RunContainerError|CrashLoopBackOff)$/);
  return { name, mount: join(pod, 'volume-subpaths/settings/app/0') };
}

interface Pod {
  readonly metadata: { readonly uid: string };
  readonly status: {
    readonly containerStatuses?: readonly {
      readonly containerID: string;
      readonly state: { readonly waiting?: { readonly reason: string } };
    }[];
  };
}
