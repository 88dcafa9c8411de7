import { status as grpcStatus } from '@grpc/grpc-js';
import {
  type ContainerState,
  ContainerStatusRequest,
  ContainerStatusResponse,
  ListContainersResponse,
  ListPodSandboxResponse,
  VersionResponse,
} from '../../src/cri/generated/cri.ts';
import { type Calls, serveCalls } from './socket-servers.ts';

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
}

/**
 * A container runtime that has whatever containers a test says, over the real wire. The last
 * container of a name is the newest, and every pod has a sandbox that is ready.
 */
export class CriDouble {
  containers: readonly DoubleContainer[] = [];
  /** Called before each answer; a promise that never settles is a runtime that hangs. */
  beforeAnswer: (call: string) => Promise<void> | void = () => {};
  readonly #stop: () => void;

  private constructor(stop: () => void) {
    this.#stop = stop;
  }

  static async serve(socket: string): Promise<CriDouble> {
    const calls: Calls = Object.fromEntries(
      ['Version', 'ListPodSandbox', 'ListContainers', 'ContainerStatus'].map((call) => [
        call,
        async (request, reply) => {
          await double.beforeAnswer(call);
          const bytes = double.#answer(call, request);
          if (bytes) reply(null, Buffer.from(bytes));
          else reply({ code: grpcStatus.NOT_FOUND, details: 'no such container' });
        },
      ]),
    );
    const double: CriDouble = new CriDouble(
      await serveCalls(socket, 'runtime.v1.RuntimeService', calls),
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

  #sandboxes() {
    const pods = new Map(this.containers.map(({ pod }) => [pod.uid, pod]));
    return [...pods.values()].map((pod) => ({
      id: idOf('sandbox', pod.uid),
      metadata: { ...pod, attempt: 0 },
      state: 'SANDBOX_READY' as const,
      createdAt: '1779000000000000000',
      labels: { 'io.kubernetes.pod.uid': pod.uid },
    }));
  }

  #statusOf(id: string): Uint8Array | undefined {
    const at = this.containers.findIndex((container, index) => listed(container, index).id === id);
    const container = this.containers[at];
    if (!container) return undefined;
    const { metadata, state, createdAt, labels } = listed(container, at);
    const { pod, name, exitCode = 0, message = '' } = container;
    const finishedAt = '1780000000000000000';
    const logPath = `/var/log/pods/${pod.namespace}_${pod.name}_${pod.uid}/${name}/${at}.log`;
    return ContainerStatusResponse.encode(
      ContainerStatusResponse.fromPartial({
        status: { id, metadata, state, createdAt, labels, exitCode, message, finishedAt, logPath },
      }),
    ).finish();
  }
}

function listed({ pod, name, state }: DoubleContainer, index: number) {
  return {
    id: idOf('container', `${index}`),
    podSandboxId: idOf('sandbox', pod.uid),
    metadata: { name, attempt: index },
    state,
    createdAt: `${1_779_990_000_000_000_000n + BigInt(index)}`,
    labels: {
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
