import { join } from 'node:path';
import type { ContainerOptions, PodOptions } from '../practice-node.ts';
import { ContainerConfig, PodSandboxConfig } from './generated/cri-drive.ts';

/** What a kubelet decides about a pod. */
export interface PodPlace {
  /** The parent of the cgroups of its containers. */
  readonly cgroup: string;
  /** The parent of its log directory. */
  readonly logs: string;
  /** With a network namespace of its own: the caller has put a network into containerd's "cni". */
  readonly ownNetwork?: boolean;
}

const HOST = { network: 'NODE', pid: 'NODE', ipc: 'NODE' } as const;

/** The CRI configuration of a pod, with the labels of a kubelet. */
export function podConfigOf(options: PodOptions, place: PodPlace): PodSandboxConfig {
  const { name, namespace, uid, attempt = 0, isUnmanagedContainer = false } = options;
  const { cgroup, logs, ownNetwork = false } = place;
  return PodSandboxConfig.fromPartial({
    metadata: { name, namespace, uid, attempt },
    logDirectory: isUnmanagedContainer ? '' : join(logs, `${namespace}_${name}_${uid}`),
    labels: isUnmanagedContainer
      ? {}
      : {
          'io.kubernetes.pod.name': name,
          'io.kubernetes.pod.namespace': namespace,
          'io.kubernetes.pod.uid': uid,
        },
    linux: {
      cgroupParent: cgroup,
      securityContext: { namespaceOptions: ownNetwork ? { ...HOST, network: 'POD' } : HOST },
    },
  });
}

/** What runs in it: an image, and a command where it is not the image's own. */
export interface Workload {
  readonly image: string;
  readonly command?: readonly string[];
}

/** The CRI configuration of a container, with labels, annotations and log path of a kubelet. */
export function containerConfigOf(
  pod: PodSandboxConfig,
  options: ContainerOptions,
  { image, command = [] }: Workload,
): ContainerConfig {
  const { name, attempt = 0, mounts = [], isUnmanagedContainer = false } = options;
  return ContainerConfig.fromPartial({
    metadata: { name, attempt },
    image: { image },
    command: [...command],
    mounts: mounts.map((mount) => ({ ...mount })),
    labels: isUnmanagedContainer
      ? { ...options.labels }
      : { ...pod.labels, 'io.kubernetes.container.name': name, ...options.labels },
    annotations: {
      ...(isUnmanagedContainer ? {} : { 'io.kubernetes.container.restartCount': String(attempt) }),
      ...options.annotations,
    },
    logPath: isUnmanagedContainer ? '' : `${name}/${attempt}.log`,
    linux: {
      securityContext: { namespaceOptions: pod.linux?.securityContext?.namespaceOptions ?? HOST },
    },
  });
}
