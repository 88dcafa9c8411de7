import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type BusyPod, subpathTarget } from './busy-pods.ts';

/** A real mount to be made: a bind of a directory or a file, or a filesystem in memory. */
export interface MountOptions {
  readonly target: string;
  /** A path, or "tmpfs". */
  readonly source: string;
}

const PAYLOAD = '..2021_06_02_06_01_21.244319292';

/** Ten for each pod: two tokens, three subPaths, two roots, shared memory, two volumes. */
export function mountsOf(
  pod: BusyPod,
  root: string,
  runtimeFolder: string,
): readonly MountOptions[] {
  const volumes = `${root}/pods/${pod.uid}/volumes`;
  const task = (id: string) => `${runtimeFolder}/io.containerd.runtime.v2.task/k8s.io/${id}/rootfs`;
  const running = pod.containers.find(({ state }) => state === 'running');
  const disk = (name: string) => `${dirname(root)}/disks/${pod.name}/${name}`;
  return [
    { target: `${volumes}/kubernetes.io~projected/kube-api-access`, source: 'tmpfs' },
    { target: `${volumes}/kubernetes.io~secret/tls`, source: 'tmpfs' },
    ...[0, 1, 2].map((index) => ({
      target: subpathTarget(root, pod, index),
      source: `${volumes}/kubernetes.io~configmap/settings/${PAYLOAD}/nginx${index}.conf`,
    })),
    { target: `${runtimeFolder}/sandboxes/${pod.sandboxId}/shm`, source: 'tmpfs' },
    { target: task(pod.sandboxId), source: disk('pause') },
    { target: task(running?.id ?? ''), source: disk('root') },
    { target: `${volumes}/kubernetes.io~local-volume/data`, source: disk('data') },
    { target: `${volumes}/kubernetes.io~csi/archive/mount`, source: disk('archive') },
  ];
}

/** Makes what will be mounted and where, and writes the list that `mount --all` takes. */
export function prepareMounts(mounts: readonly MountOptions[], listFile: string): void {
  for (const { source, target } of mounts) {
    const isFile = source.endsWith('.conf');
    for (const path of source === 'tmpfs' ? [target] : [source, target]) {
      mkdirSync(isFile ? dirname(path) : path, { recursive: true });
      if (isFile) writeFileSync(path, '');
    }
  }
  const lines = mounts.map(({ source, target }) =>
    source === 'tmpfs' ? `tmpfs ${target} tmpfs size=64k 0 0` : `${source} ${target} none bind 0 0`,
  );
  writeFileSync(listFile, `${lines.join('\n')}\n`);
}

/** Deletes what the first subPath of some pods shows, as an update of the configMap does. */
export function loseSubpaths(pods: readonly BusyPod[], root: string): void {
  for (const { uid, subpath } of pods) {
    if (subpath === 'whole') continue;
    const volume = join(root, 'pods', uid, 'volumes/kubernetes.io~configmap/settings');
    rmSync(join(volume, PAYLOAD, 'nginx0.conf'));
  }
}
