import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import * as cri from '../../src/lib/cri/generated/cri.ts';
import { labCgroup } from '../cgroups.ts';
import { PLACES } from '../places.ts';
import {
  type ContainerOptions,
  type ContainerStatus,
  IMAGE_NAMES,
  type ListedContainer,
  type PodOptions,
  type RuntimeCommands,
} from '../practice-node.ts';
import { containerConfigOf, podConfigOf } from './cri-configs.ts';
import { CriDriver } from './cri-driver.ts';
import * as drive from './generated/cri-drive.ts';

const SERVICE = 'v1.RuntimeService';

/** The commands of the runtime of a practice node, the same for the stand-in and containerd. */
export function connectCommands(
  socket: string,
  lab: string,
  { logs = PLACES.podLogs }: { readonly logs?: string } = {},
): RuntimeCommands {
  const driver = new CriDriver(socket);
  const configOf = (options: PodOptions) =>
    podConfigOf(options, { cgroup: podCgroup(lab, options), logs });
  return {
    async runPod(options) {
      const config = configOf(options);
      if (config.logDirectory) await mkdir(config.logDirectory, { recursive: true });
      const types = [drive.RunPodSandboxRequest, drive.RunPodSandboxResponse] as const;
      return (await driver.call(`${SERVICE}/RunPodSandbox`, types, { config })).podSandboxId;
    },
    createContainer: (podId, pod, options) =>
      createContainer(driver, podId, configOf(pod), options),
    async startContainer(containerId) {
      const types = [drive.StartContainerRequest, drive.Nothing] as const;
      await driver.call(`${SERVICE}/StartContainer`, types, { containerId });
    },
    async stopContainer(containerId) {
      const types = [drive.StopContainerRequest, drive.Nothing] as const;
      await driver.call(`${SERVICE}/StopContainer`, types, { containerId, timeout: '0' });
    },
    async removeContainer(containerId) {
      const types = [cri.RemoveContainerRequest, drive.Nothing] as const;
      await driver.call(`${SERVICE}/RemoveContainer`, types, { containerId });
    },
    async removePod(podSandboxId) {
      const stop = [cri.StopPodSandboxRequest, drive.Nothing] as const;
      await driver.call(`${SERVICE}/StopPodSandbox`, stop, { podSandboxId });
      const remove = [cri.RemovePodSandboxRequest, drive.Nothing] as const;
      await driver.call(`${SERVICE}/RemovePodSandbox`, remove, { podSandboxId });
    },
    async containers() {
      const types = [cri.ListContainersRequest, cri.ListContainersResponse] as const;
      const answer = await driver.call(`${SERVICE}/ListContainers`, types, {});
      return answer.containers.map(listedContainer);
    },
    status: (id) => statusOf(driver, id),
    async pods() {
      const types = [cri.ListPodSandboxRequest, cri.ListPodSandboxResponse] as const;
      const answer = await driver.call(`${SERVICE}/ListPodSandbox`, types, {});
      return answer.items.map(({ id, state, metadata }) => {
        const { name = '', namespace = '', uid = '' } = metadata ?? {};
        return { id, name, namespace, uid, isReady: state === 'SANDBOX_READY' };
      });
    },
    close: () => driver.close(),
  };
}

/** The cgroup of a pod of a kubelet; other pods have another one, also below that of the lab. */
function podCgroup(lab: string, { uid, isUnmanagedContainer = false }: PodOptions): string {
  return join(labCgroup(lab), isUnmanagedContainer ? 'bare' : `kubepods/pod${uid}`);
}

async function createContainer(
  driver: CriDriver,
  podSandboxId: string,
  sandboxConfig: drive.PodSandboxConfig,
  options: ContainerOptions,
): Promise<string> {
  const config = containerConfigOf(sandboxConfig, options, {
    image: options.image ?? IMAGE_NAMES.program,
  });
  if (config.logPath) {
    await mkdir(join(sandboxConfig.logDirectory, options.name), { recursive: true });
  }
  const types = [drive.CreateContainerRequest, drive.CreateContainerResponse] as const;
  const request = { podSandboxId, config, sandboxConfig };
  return (await driver.call(`${SERVICE}/CreateContainer`, types, request)).containerId;
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

async function statusOf(driver: CriDriver, containerId: string): Promise<ContainerStatus> {
  const types = [cri.ContainerStatusRequest, cri.ContainerStatusResponse] as const;
  const asked = { containerId, verbose: false };
  const { status } = await driver.call(`${SERVICE}/ContainerStatus`, types, asked);
  if (!status) throw new Error(`the runtime answers without the state of container ${containerId}`);
  const { state, exitCode, reason, message, logPath } = status;
  return {
    state: STATES[state],
    exitCode,
    reason,
    message,
    logPath,
    startedAt: milliseconds(status.startedAt),
    finishedAt: milliseconds(status.finishedAt),
  };
}

function milliseconds(nanoseconds: string): number {
  return Number(BigInt(nanoseconds) / 1_000_000n);
}
