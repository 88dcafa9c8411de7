import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ContainerOptions, PodOptions } from '../../lab/practice-node.ts';
import { containerConfigOf, podConfigOf } from '../../lab/runtime/cri-configs.ts';
import { CriDriver } from '../../lab/runtime/cri-driver.ts';
import * as cri from '../../lab/runtime/generated/cri-drive.ts';
import {
  RemoveContainerRequest,
  RemovePodSandboxRequest,
  StopPodSandboxRequest,
} from '../../src/lib/cri/generated/cri.ts';
import {
  type Missing,
  type UnpackedPackages,
  unpackedPackages,
} from '../../tools/debian-packages.ts';
import { BUSYBOX_IMAGE, busyboxImage } from './busybox-image.ts';
import { type ContainerdProcess, startProcess } from './containerd-process.ts';
import type { PrivateNamespaces } from './private-namespaces.ts';

const run = promisify(execFile);

// libseccomp2 comes along for runc, which a small machine may lack.
const PACKAGES = ['containerd', 'runc', 'libseccomp2', 'busybox-static'];

/** What a test that needs containerd asks first: is it to be had, and if not, why. */
export function containerdPackages(): Promise<UnpackedPackages | Missing> {
  return unpackedPackages(PACKAGES);
}

export interface PodNames extends PodOptions {
  /** With a network namespace of its own; the caller has put a network into containerd's "cni". */
  readonly ownNetwork?: boolean;
}

export interface Pod {
  readonly id: string;
  readonly config: cri.PodSandboxConfig;
}

export interface TestContainerOptions extends ContainerOptions {
  readonly command?: readonly string[];
}

/** A real containerd with a root, a state and a socket of its own. */
export interface RunningContainerd {
  readonly socket: string;
  /** Its process, as the caller sees it. */
  readonly pid: number;
  readonly image: string;
  runPod(names: PodNames): Promise<Pod>;
  /** Gives the id of a container that is not started yet. */
  createContainer(pod: Pod, options: TestContainerOptions): Promise<string>;
  /** Rejects with the runtime's own text. */
  startContainer(id: string): Promise<void>;
  stopContainer(id: string): Promise<void>;
  removeContainer(id: string): Promise<void>;
  removePod(pod: Pod): Promise<void>;
  /** Leaves no process, mount or cgroup behind, also when containerd was paused or killed. */
  stop(): Promise<void>;
}

/**
 * Starts containerd in the given namespaces, and in the caller's own without any. The caller is the
 * test: it may stay outside, because the socket is a file in `scratch` and is reached from both
 * sides, while processes and mounts stay inside. What reads the mounts (the product, a stand-in
 * for the kubelet) has to be run inside too, with `namespaces.enter`. A caller that is itself in
 * private namespaces gives none; its /run should be private then, for shims keep sockets there.
 */
export async function startContainerd(
  scratch: string,
  { namespaces }: { readonly namespaces?: PrivateNamespaces } = {},
): Promise<RunningContainerd> {
  const packages = await containerdPackages();
  if ('missing' in packages) throw new Error(packages.missing);
  const home = join(scratch, 'containerd');
  await mkdir(home, { recursive: true });
  const containerd = await startProcess(home, packages, namespaces);
  const driver = new CriDriver(containerd.socket);
  try {
    await importImage(home, packages, containerd, driver);
  } catch (error) {
    driver.close();
    await containerd.stop();
    throw error;
  }
  return new Running(home, containerd, driver);
}

async function importImage(
  home: string,
  { root, environment }: UnpackedPackages,
  containerd: ContainerdProcess,
  driver: CriDriver,
): Promise<void> {
  const archive = join(home, 'busybox.tar');
  await writeFile(archive, await busyboxImage(join(root, 'bin/busybox')));
  const args = ['--address', containerd.socket, '-n', 'k8s.io', 'images', 'import'];
  await run(join(root, 'usr/bin/ctr'), [...args, '--snapshotter', 'native', archive], {
    env: { ...process.env, ...environment },
    timeout: 60_000,
  });
  // CRI hears of the image by an event, and would try to pull it if asked before.
  await containerd.until('the image is known', async () => {
    const types = [cri.ImageStatusRequest, cri.ImageStatusResponse] as const;
    const asked = { image: { image: BUSYBOX_IMAGE } };
    return (await driver.call('v1.ImageService/ImageStatus', types, asked)).image !== undefined;
  });
}

class Running implements RunningContainerd {
  readonly socket: string;
  readonly pid: number;
  readonly image = BUSYBOX_IMAGE;
  readonly #home: string;
  readonly #containerd: ContainerdProcess;
  readonly #driver: CriDriver;
  readonly #pods = new Set<Pod>();

  constructor(home: string, containerd: ContainerdProcess, driver: CriDriver) {
    this.#home = home;
    this.#containerd = containerd;
    this.#driver = driver;
    this.socket = containerd.socket;
    this.pid = containerd.pid;
  }

  async runPod(names: PodNames): Promise<Pod> {
    const { isUnmanagedContainer = false, ownNetwork = false } = names;
    const logs = join(this.#home, 'logs');
    const config = podConfigOf(names, { cgroup: this.#containerd.cgroup, logs });
    const namespaces = config.linux?.securityContext?.namespaceOptions;
    if (ownNetwork && namespaces) namespaces.network = 'POD';
    if (!isUnmanagedContainer) await mkdir(config.logDirectory, { recursive: true });
    const types = [cri.RunPodSandboxRequest, cri.RunPodSandboxResponse] as const;
    const answer = await this.#driver.call('v1.RuntimeService/RunPodSandbox', types, { config });
    const pod = { id: answer.podSandboxId, config };
    this.#pods.add(pod);
    return pod;
  }

  async createContainer({ id, config }: Pod, options: TestContainerOptions): Promise<string> {
    const { name, command = [], isUnmanagedContainer = false } = options;
    if (!isUnmanagedContainer) await mkdir(join(config.logDirectory, name), { recursive: true });
    const types = [cri.CreateContainerRequest, cri.CreateContainerResponse] as const;
    const request = {
      podSandboxId: id,
      sandboxConfig: config,
      config: { ...containerConfigOf(config, options, BUSYBOX_IMAGE), command: [...command] },
    };
    const answer = await this.#driver.call('v1.RuntimeService/CreateContainer', types, request);
    return answer.containerId;
  }

  async startContainer(id: string): Promise<void> {
    const types = [cri.StartContainerRequest, cri.Nothing] as const;
    await this.#driver.call('v1.RuntimeService/StartContainer', types, { containerId: id });
  }

  async stopContainer(id: string): Promise<void> {
    const types = [cri.StopContainerRequest, cri.Nothing] as const;
    const request = { containerId: id, timeout: '0' };
    await this.#driver.call('v1.RuntimeService/StopContainer', types, request);
  }

  async removeContainer(id: string): Promise<void> {
    const types = [RemoveContainerRequest, cri.Nothing] as const;
    await this.#driver.call('v1.RuntimeService/RemoveContainer', types, { containerId: id });
  }

  async removePod(pod: Pod): Promise<void> {
    const request = { podSandboxId: pod.id };
    const stop = [StopPodSandboxRequest, cri.Nothing] as const;
    await this.#driver.call('v1.RuntimeService/StopPodSandbox', stop, request);
    const remove = [RemovePodSandboxRequest, cri.Nothing] as const;
    await this.#driver.call('v1.RuntimeService/RemovePodSandbox', remove, request);
    this.#pods.delete(pod);
  }

  async stop(): Promise<void> {
    // What containerd cannot take away itself, the end of the process takes away by force.
    this.#containerd.resume();
    for (const pod of this.#pods) await this.removePod(pod).catch(() => {});
    this.#driver.close();
    await this.#containerd.stop();
  }
}
