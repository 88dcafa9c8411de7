import { cp, readlink, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { killIfThere } from '../../lab/process-mark.ts';
import { until } from '../../lab/until.ts';
import type { Cluster } from '../../tools/cluster/cluster.ts';
import { containerProcess } from '../rig/container-process.ts';

const REFUSED_MS = 240_000;

type WithPods = Pick<Cluster, 'node' | 'apply' | 'kubectl' | 'image'>;

export interface SickPod {
  readonly name: string;
  /** The mount whose source is gone. */
  readonly mount: string;
}

/** A pod whose container cannot start again, because the source of its subPath mount is gone. */
export async function makeSickPod(
  cluster: WithPods,
  nodeName: string,
  name: string,
): Promise<SickPod> {
  await makeSubpathPod(cluster, nodeName, name);
  const pod = await removeSubpathSource(cluster, nodeName, name);
  await killContainer(cluster, name);
  await untilWaiting(cluster, name);
  return pod;
}

/** A pod that runs, with a subPath volume. */
export async function makeSubpathPod(
  cluster: WithPods,
  nodeName: string,
  name: string,
): Promise<void> {
  const { image } = cluster;
  const volumeMounts = [{ name: 'settings', mountPath: '/settings', subPath: 'file' }];
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
}

/** Writes a new version of its ConfigMap as the kubelet does it, only without a wait of a minute. */
export async function removeSubpathSource(
  cluster: WithPods,
  nodeName: string,
  name: string,
): Promise<SickPod> {
  const node = cluster.node(nodeName);
  const { metadata } = await podNow(cluster, name);
  const pod = join(node.kubeletRoot, 'pods', metadata.uid);
  const volume = node.outside(join(pod, 'volumes/kubernetes.io~configmap/settings'));
  const before = await readlink(join(volume, '..data'));
  await cp(join(volume, before), join(volume, '..next'), { recursive: true });
  await symlink('..next', join(volume, '..data_tmp'));
  await rename(join(volume, '..data_tmp'), join(volume, '..data'));
  await rm(join(volume, before), { recursive: true });
  return { name, mount: join(pod, 'volume-subpaths/settings/app/0') };
}

/** As often as it crashed before, the longer the kubelet waits before it starts the container again. */
export async function crash(cluster: WithPods, name: string, times: number): Promise<void> {
  for (let time = 1; time <= times; time += 1) {
    await killContainer(cluster, name);
    const hasRestarted = async () => {
      const [container] = (await podNow(cluster, name)).status.containerStatuses ?? [];
      return container?.restartCount === time && container.state.running !== undefined;
    };
    await until(`the container of pod ${name} runs again`, hasRestarted, REFUSED_MS);
  }
}

export async function killContainer(cluster: WithPods, name: string): Promise<void> {
  const { status } = await podNow(cluster, name);
  const id = status.containerStatuses?.[0]?.containerID.replace('containerd://', '') ?? '';
  killIfThere(containerProcess(id));
}

/** Until the kubelet has failed to start its container, or waits before it tries. */
export async function untilWaiting(cluster: WithPods, name: string): Promise<void> {
  const isWaiting = async () => {
    const { waiting } = (await podNow(cluster, name)).status.containerStatuses?.[0]?.state ?? {};
    return /^(RunContainerError|CrashLoopBackOff)$/.test(waiting?.reason ?? '');
  };
  await until(`the container of pod ${name} does not run`, isWaiting, REFUSED_MS);
}

async function podNow(cluster: WithPods, name: string): Promise<Pod> {
  return JSON.parse(await cluster.kubectl('get', 'pod', name, '-o=json')) as Pod;
}

interface Pod {
  readonly metadata: { readonly uid: string };
  readonly status: {
    readonly containerStatuses?: readonly {
      readonly containerID: string;
      readonly restartCount: number;
      readonly state: { readonly running?: object; readonly waiting?: { readonly reason: string } };
    }[];
  };
}
