import type {
  Container,
  ContainerStatus,
  PodSandbox,
  PodSandboxStatus,
} from '../../src/lib/cri/generated/cri.ts';
import type { ContainerProcess } from './container-process.ts';
import type { ContainerConfig, PodSandboxConfig } from './generated/cri-drive.ts';

/** A pod of the stand-in runtime. */
export interface KnownPod {
  readonly id: string;
  readonly config: PodSandboxConfig;
  readonly createdAt: string;
  /** Set while the pod is ready. */
  process?: ContainerProcess | undefined;
  /** Settles when the process has exited and the state is updated. */
  ended?: Promise<void>;
}

export interface KnownContainer {
  readonly id: string;
  readonly pod: KnownPod;
  readonly config: ContainerConfig;
  readonly createdAt: string;
  state: 'CONTAINER_CREATED' | 'CONTAINER_RUNNING' | 'CONTAINER_EXITED';
  /** Set while the container runs. */
  process?: ContainerProcess | undefined;
  /** Settles when the process has exited and the state is updated. */
  ended?: Promise<void>;
  startedAt: string;
  finishedAt: string;
  exitCode: number;
  reason: string;
  message: string;
}

/** Time in CRI: nanoseconds since 1970. */
export function nowInNanoseconds(): string {
  return `${BigInt(Date.now()) * 1_000_000n}`;
}

export function sandboxOf(pod: KnownPod): PodSandbox & PodSandboxStatus {
  const { id, config, createdAt } = pod;
  return {
    id,
    metadata: config.metadata,
    state: pod.process ? 'SANDBOX_READY' : 'SANDBOX_NOTREADY',
    createdAt,
    labels: config.labels,
    annotations: config.annotations,
    runtimeHandler: '',
  };
}

export function listedOf(container: KnownContainer): Container {
  const { id, pod, config, createdAt, state } = container;
  return {
    id,
    podSandboxId: pod.id,
    metadata: config.metadata,
    image: config.image,
    imageRef: config.image?.image ?? '',
    state,
    createdAt,
    labels: config.labels,
    annotations: config.annotations,
  };
}

export function statusOf(container: KnownContainer): ContainerStatus {
  const { startedAt, finishedAt, exitCode, reason, message, config } = container;
  const end = { startedAt, finishedAt, exitCode, reason, message };
  const { mounts } = config;
  return { ...listedOf(container), ...end, mounts, logPath: logPathOf(container) };
}

/** Undefined for a container without a log path, or in a pod without a log directory. */
export function logPathOf({ pod, config }: KnownContainer): string {
  const folder = pod.config.logDirectory;
  return folder && config.logPath ? `${folder}/${config.logPath}` : '';
}
