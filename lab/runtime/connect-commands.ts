import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import * as cri from '../../src/lib/cri/generated/cri.ts';
import { labCgroup } from '../cgroups.ts';
import { PLACES } from '../places.ts';
import type {
  ContainerStatus,
  ListedContainer,
  PodOptions,
  RuntimeCommands,
} from '../practice-node.ts';
import { containerConfigOf, podConfigOf } from './cri-configs.ts';
import { CriDriver, type Decoding, type Encoding } from './cri-driver.ts';
import * as drive from './generated/cri-drive.ts';

/** Commands to the runtime of a practice node, the same for the stand-in and containerd. */
export function connectCommands(
  socket: string,
  lab: string,
  { logs = PLACES.podLogs }: { readonly logs?: string } = {},
): RuntimeCommands {
  const driver = new CriDriver(socket);
  const ask = <Q, A>(
    method: string,
    types: readonly [Encoding<Q>, Decoding<A>],
    message: Q,
  ): Promise<A> => driver.call(`v1.RuntimeService/${method}`, types, message);
  const command = async <Q>(method: string, request: Encoding<Q>, message: Q): Promise<void> =>
    void (await ask(method, [request, drive.Nothing], message));
  const configOf = (options: PodOptions) =>
    podConfigOf(options, { cgroup: podCgroup(lab, options), logs });
  return {
    async runPod(options) {
      const config = configOf(options);
      if (config.logDirectory) await mkdir(config.logDirectory, { recursive: true });
      const types = [drive.RunPodSandboxRequest, drive.RunPodSandboxResponse] as const;
      return (await ask('RunPodSandbox', types, { config })).podSandboxId;
    },
    async createContainer(podSandboxId, pod, options) {
      const sandboxConfig = configOf(pod);
      const config = containerConfigOf(sandboxConfig, options, options.image);
      const logFolder = join(sandboxConfig.logDirectory, options.name);
      if (config.logPath) await mkdir(logFolder, { recursive: true });
      const types = [drive.CreateContainerRequest, drive.CreateContainerResponse] as const;
      const request = { podSandboxId, config, sandboxConfig };
      return (await ask('CreateContainer', types, request)).containerId;
    },
    startContainer: (containerId) =>
      command('StartContainer', drive.StartContainerRequest, { containerId }),
    stopContainer: (containerId) =>
      command('StopContainer', drive.StopContainerRequest, { containerId, timeout: '0' }),
    removeContainer: (containerId) =>
      command('RemoveContainer', cri.RemoveContainerRequest, { containerId }),
    async removePod(podSandboxId) {
      await command('StopPodSandbox', cri.StopPodSandboxRequest, { podSandboxId });
      await command('RemovePodSandbox', cri.RemovePodSandboxRequest, { podSandboxId });
    },
    async containers() {
      const types = [cri.ListContainersRequest, cri.ListContainersResponse] as const;
      return (await ask('ListContainers', types, {})).containers.map(listedContainer);
    },
    async status(containerId) {
      const types = [cri.ContainerStatusRequest, cri.ContainerStatusResponse] as const;
      const { status } = await ask('ContainerStatus', types, { containerId, verbose: false });
      if (status) return statusOf(status);
      throw new Error(`the runtime answers without the state of container ${containerId}`);
    },
    async pods() {
      const types = [cri.ListPodSandboxRequest, cri.ListPodSandboxResponse] as const;
      return (await ask('ListPodSandbox', types, {})).items.map(({ id, state, metadata }) => {
        const { name = '', namespace = '', uid = '' } = metadata ?? {};
        return { id, name, namespace, uid, isReady: state === 'SANDBOX_READY' };
      });
    },
    close: () => driver.close(),
  };
}

/** The cgroup of a pod, below the cgroup of the lab: pods of a kubelet have another parent. */
function podCgroup(lab: string, { uid, isUnmanagedContainer = false }: PodOptions): string {
  return join(labCgroup(lab), isUnmanagedContainer ? 'bare' : `kubepods/pod${uid}`);
}

const STATES: Readonly<Record<cri.ContainerState, ListedContainer['state']>> = {
  CONTAINER_CREATED: 'created',
  CONTAINER_RUNNING: 'running',
  CONTAINER_EXITED: 'exited',
  CONTAINER_UNKNOWN: 'unknown',
  UNRECOGNIZED: 'unknown',
};

function listedContainer(container: cri.Container): ListedContainer {
  const { id, podSandboxId: podId, metadata, state, labels } = container;
  const { name = '', attempt = 0 } = metadata ?? {};
  return { id, podId, name, attempt, state: STATES[state], labels };
}

function statusOf(status: cri.ContainerStatus): ContainerStatus {
  const { state, exitCode, reason, message, logPath, startedAt, finishedAt } = status;
  return {
    ...{ state: STATES[state], exitCode, reason, message, logPath },
    startedAt: milliseconds(startedAt),
    finishedAt: milliseconds(finishedAt),
  };
}

function milliseconds(nanoseconds: string): number {
  return Number(BigInt(nanoseconds) / 1_000_000n);
}
