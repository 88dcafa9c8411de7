import { status as grpcStatus } from '@grpc/grpc-js';
import { type Calls, serveCalls } from '../../lab/runtime/serve-calls.ts';
import {
  type ContainerState,
  ContainerStatusRequest,
  ContainerStatusResponse,
  ListContainersResponse,
  ListPodSandboxResponse,
  RemoveContainerRequest,
  VersionResponse,
} from '../../src/lib/cri/generated/cri.ts';

export interface DoublePod {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
}

export interface DoubleContainer {
  readonly pod: DoublePod;
  readonly name: string;
  readonly state: ContainerState;
  readonly exitCode?: number;
  readonly message?: string;
  /** Made past the kubelet: without a log path, and with these labels alone. */
  readonly bareWith?: Readonly<Record<string, string>>;
}

const READS = ['Version', 'ListPodSandbox', 'ListContainers', 'ContainerStatus'];
const COMMANDS = ['RemoveContainer', 'StopPodSandbox', 'RemovePodSandbox', 'StopContainer'];

/**
 * A container runtime that has whatever containers a test says, over the real wire. The last
 * container of a name is the newest, and every pod has a sandbox that is ready.
 */
export class CriDouble {
  containers: readonly DoubleContainer[] = [];
  /** The commands that it was given, in order: "RemoveContainer mqtt". */
  readonly commands: string[] = [];
  /** Called before each answer; a promise that never settles is a runtime that hangs. */
  beforeAnswer: (call: string) => Promise<void> | void = () => {};
  readonly #stop: () => void;

  private constructor(stop: () => void) {
    this.#stop = stop;
  }

  static async serve(socket: string): Promise<CriDouble> {
    const calls: Calls = Object.fromEntries(
      [...READS, ...COMMANDS].map((call) => [
        call,
        async (request, reply) => {
          await double.beforeAnswer(call);
          const isCommand = COMMANDS.includes(call);
          const bytes = isCommand ? double.#obey(call, request) : double.#answer(call, request);
          if (bytes) reply(null, Buffer.from(bytes));
          else reply({ code: grpcStatus.NOT_FOUND, details: 'no such container' });
        },
      ]),
    );
    const double: CriDouble = new CriDouble(
      await serveCalls(socket, { 'runtime.v1.RuntimeService': calls }),
    );
    return double;
  }

  stop(): void {
    this.#stop();
  }

  #answer(call: string, request: Buffer): Uint8Array | undefined {
    switch (call) {
      case 'Version':
        return VersionResponse.encode({
          version: '0.1.0',
          runtimeName: 'containerd',
          runtimeVersion: '1.6.20',
          runtimeApiVersion: 'v1',
        }).finish();
      case 'ListPodSandbox':
        return ListPodSandboxResponse.encode(
          ListPodSandboxResponse.fromPartial({ items: this.#sandboxes() }),
        ).finish();
      case 'ListContainers':
        return ListContainersResponse.encode(
          ListContainersResponse.fromPartial({ containers: this.containers.map(listed) }),
        ).finish();
      default:
        return this.#statusOf(ContainerStatusRequest.decode(request).containerId);
    }
  }

  /** All commands have the id of what they are about as their only field. */
  #obey(call: string, request: Buffer): Uint8Array | undefined {
    const { containerId: id } = RemoveContainerRequest.decode(request);
    const isMeant = (container: DoubleContainer, index: number) =>
      call.endsWith('Container')
        ? listed(container, index).id === id
        : idOf('sandbox', container.pod.uid) === id;
    const meant = this.containers.filter(isMeant);
    this.commands.push(`${call} ${meant.map(({ name }) => name).join() || 'nothing'}`);
    if (call.startsWith('Remove')) {
      this.containers = this.containers.filter((each) => !meant.includes(each));
    }
    return new Uint8Array();
  }

  #sandboxes() {
    const pods = new Map(this.containers.map(({ pod }) => [pod.uid, pod]));
    return [...pods.values()].map((pod) => ({
      id: idOf('sandbox', pod.uid),
      metadata: { ...pod, attempt: 0 },
      state: 'SANDBOX_READY' as const,
      createdAt: '1779000000000000000',
      labels: pod.uid === '' ? {} : { 'io.kubernetes.pod.uid': pod.uid },
    }));
  }

  #statusOf(id: string): Uint8Array | undefined {
    const at = this.containers.findIndex((container, index) => listed(container, index).id === id);
    const container = this.containers[at];
    if (!container) return undefined;
    const { metadata, state, createdAt, labels } = listed(container, at);
    const { pod, name, exitCode = 0, message = '' } = container;
    const finishedAt = '1780000000000000000';
    const kubelets = `/var/log/pods/${pod.namespace}_${pod.name}_${pod.uid}/${name}/${at}.log`;
    const logPath = container.bareWith ? '' : kubelets;
    return ContainerStatusResponse.encode(
      ContainerStatusResponse.fromPartial({
        status: { id, metadata, state, createdAt, labels, exitCode, message, finishedAt, logPath },
      }),
    ).finish();
  }
}

function listed({ pod, name, state, bareWith }: DoubleContainer, index: number) {
  return {
    id: idOf('container', `${index} ${name}`),
    podSandboxId: idOf('sandbox', pod.uid),
    metadata: { name, attempt: index },
    state,
    createdAt: `${1_779_990_000_000_000_000n + BigInt(index)}`,
    labels: bareWith
      ? { ...bareWith }
      : {
          'io.kubernetes.pod.uid': pod.uid,
          'io.kubernetes.pod.name': pod.name,
          'io.kubernetes.pod.namespace': pod.namespace,
          'io.kubernetes.container.name': name,
        },
  };
}

/** Sixty-four hexadecimal digits, as runtimes name things. */
function idOf(kind: string, name: string): string {
  return Buffer.from(`${kind} ${name}`).toString('hex').slice(0, 64).padEnd(64, '0');
}
