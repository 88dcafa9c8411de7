import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../src/lib/std/message-of.ts';
import { leaveCgroup } from '../cgroups.ts';
import { prepareHostPaths, startContainerProcess } from './container-process.ts';
import type { ContainerConfig, PodSandboxConfig } from './generated/cri-drive.ts';
import { THINGS_MAX } from './limits.ts';
import {
  type KnownContainer,
  type KnownPod,
  logPathOf,
  nowInNanoseconds,
} from './runtime-objects.ts';

/** The gRPC status NotFound. */
export class NotFound extends Error {
  override readonly name = 'NotFound';
}

/** The reason of containerd for a container that could not be started. */
const START_ERROR = { exitCode: 128, reason: 'StartError' } as const;

/**
 * A small stand-in container runtime, without images and networks. Each running pod and container
 * is a process of the node with its own mounts and cgroup, so the kernel's refusals are real. Its
 * state and its containers end with it.
 */
export class StandInRuntime {
  readonly #pods = new Map<string, KnownPod>();
  readonly #containers = new Map<string, KnownContainer>();

  get pods(): readonly KnownPod[] {
    return [...this.#pods.values()];
  }

  get containers(): readonly KnownContainer[] {
    return [...this.#containers.values()];
  }

  pod(id: string): KnownPod {
    const pod = this.#pods.get(id);
    if (!pod) throw new NotFound(`an error occurred when try to find sandbox "${id}": not found`);
    return pod;
  }

  container(id: string): KnownContainer {
    const found = this.#containers.get(id);
    if (!found) {
      throw new NotFound(`an error occurred when try to find container "${id}": not found`);
    }
    return found;
  }

  async runPod(config: PodSandboxConfig): Promise<string> {
    const id = this.#newId();
    const pod: KnownPod = { id, config, createdAt: nowInNanoseconds() };
    pod.process = await startContainerProcess({ cgroup: cgroupOf(pod, id), mounts: [] });
    pod.ended = pod.process.ended.then(() => this.#endPod(pod));
    this.#pods.set(id, pod);
    return id;
  }

  async createContainer(podId: string, config: ContainerConfig): Promise<string> {
    const pod = this.pod(podId);
    const id = this.#newId();
    const name = nameOf(pod, config);
    const holder = this.containers.find((each) => nameOf(each.pod, each.config) === name);
    if (holder) {
      throw new Error(
        `failed to reserve container name "${name}": name "${name}" is reserved for "${holder.id}"`,
      );
    }
    await prepareHostPaths(config.mounts.map(({ hostPath }) => hostPath));
    this.#containers.set(id, {
      id,
      pod,
      config,
      createdAt: nowInNanoseconds(),
      state: 'CONTAINER_CREATED',
      startedAt: '0',
      finishedAt: '0',
      exitCode: 0,
      reason: '',
      message: '',
    });
    return id;
  }

  async startContainer(id: string): Promise<void> {
    const container = this.container(id);
    if (container.state !== 'CONTAINER_CREATED' || container.process) {
      throw new Error(
        `failed to set starting state for container "${id}": container is in ${container.state} state`,
      );
    }
    const logPath = logPathOf(container);
    if (logPath) await writeFile(logPath, '', { flag: 'a' });
    const { mounts } = container.config;
    const started = startContainerProcess({ cgroup: cgroupOf(container.pod, id), mounts });
    const process = await started.catch(async (error: unknown) => {
      await this.#end(container, START_ERROR.exitCode, messageOf(error));
      throw error;
    });
    container.process = process;
    container.state = 'CONTAINER_RUNNING';
    container.startedAt = nowInNanoseconds();
    container.ended = process.ended.then((exitCode) => this.#end(container, exitCode));
  }

  /** CRI requires these calls to succeed for a missing object. */
  async stopContainer(id: string): Promise<void> {
    const container = this.#containers.get(id);
    container?.process?.kill();
    await container?.ended;
  }

  async removeContainer(id: string): Promise<void> {
    await this.stopContainer(id);
    this.#containers.delete(id);
  }

  async stopPod(id: string): Promise<void> {
    const pod = this.#pods.get(id);
    if (!pod) return;
    for (const container of this.#containersOf(pod)) await this.stopContainer(container.id);
    pod.process?.kill();
    await pod.ended;
  }

  async removePod(id: string): Promise<void> {
    const pod = this.#pods.get(id);
    if (!pod) return;
    await this.stopPod(id);
    for (const container of this.#containersOf(pod)) await this.removeContainer(container.id);
    this.#pods.delete(id);
  }

  async #endPod(pod: KnownPod): Promise<void> {
    pod.process = undefined;
    await leave(pod, pod.id);
  }

  async #end(container: KnownContainer, exitCode: number, message = ''): Promise<void> {
    const ended = exitCode === 0 ? 'Completed' : 'Error';
    container.process = undefined;
    container.state = 'CONTAINER_EXITED';
    container.finishedAt = nowInNanoseconds();
    container.exitCode = exitCode;
    container.reason = message ? START_ERROR.reason : ended;
    container.message = message;
    await leave(container.pod, container.id);
  }

  #containersOf(pod: KnownPod): readonly KnownContainer[] {
    return this.containers.filter((each) => each.pod === pod);
  }

  /** 64 hexadecimal digits, as in other runtimes. */
  #newId(): string {
    if (this.#pods.size + this.#containers.size >= THINGS_MAX) {
      throw new Error(
        `this practice node has ${THINGS_MAX} pods and containers, and takes no more; remove some, ` +
          'or heal it with "kubediag lab heal"',
      );
    }
    return randomBytes(32).toString('hex');
  }
}

function nameOf(pod: KnownPod, { metadata }: ContainerConfig): string {
  return `${pod.id}/${metadata?.name}/${metadata?.attempt}`;
}

function cgroupOf({ config }: KnownPod, id: string): string {
  return join(config.linux?.cgroupParent || '/k8s.io', id);
}

/** Removes the cgroup of the pod with its last container, as a kubelet would. */
async function leave(pod: KnownPod, id: string): Promise<void> {
  const cgroup = cgroupOf(pod, id);
  // "/kubediag-lab-practice/kubepods/pod.../4f0c...": the first directory stays as long as the lab.
  await leaveCgroup(cgroup, `/${cgroup.split('/')[1]}`);
}
