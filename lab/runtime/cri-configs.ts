import { join } from 'node:path';
import { type ContainerOptions, IMAGE_NAMES, type PodOptions } from '../practice-node.ts';
import { ContainerConfig, PodSandboxConfig } from './generated/cri-drive.ts';

/** The paths that a kubelet chooses for a pod. */
export interface PodPlace {
  /** The parent of the cgroups of its containers. */
  readonly cgroup: string;
  /** The parent of its log directory. */
  readonly logs: string;
}

const HOST = { network: 'NODE', pid: 'NODE', ipc: 'NODE' } as const;

/** The CRI configuration of a pod, with the labels of a kubelet. */
export function podConfigOf(options: PodOptions, { cgroup, logs }: PodPlace): PodSandboxConfig {
  const { name, namespace, uid, attempt = 0, isUnmanagedContainer = false } = options;
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
    linux: { cgroupParent: cgroup, securityContext: { namespaceOptions: HOST } },
  });
}

/** The CRI configuration of a container, with labels, annotations and log path of a kubelet. */
export function containerConfigOf(
  pod: PodSandboxConfig,
  options: ContainerOptions,
  image: string = IMAGE_NAMES.program,
): ContainerConfig {
  const { name, attempt = 0, mounts = [], isUnmanagedContainer = false } = options;
  return ContainerConfig.fromPartial({
    metadata: { name, attempt },
    image: { image },
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
