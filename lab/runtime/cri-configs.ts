import { join } from 'node:path';
import type { ContainerOptions, PodOptions } from '../practice-node.ts';
import { ContainerConfig, PodSandboxConfig } from './generated/cri-drive.ts';

/** What a kubelet decides about a pod, and not whoever wants it. */
export interface PodPlace {
  /** The parent of the cgroups of its containers. */
  readonly cgroup: string;
  /** Where the folder with its logs is made. */
  readonly logs: string;
  /** With a network namespace of its own: the caller has put a network into containerd's "cni". */
  readonly ownNetwork?: boolean;
}

const HOST = { network: 'NODE', pid: 'NODE', ipc: 'NODE' } as const;

/** A pod in the words of CRI, with the labels that a kubelet writes. */
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

/** A container of that pod, with the labels, the annotation and the log path that a kubelet writes. */
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
