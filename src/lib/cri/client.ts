import { isAbsolute, normalize } from 'node:path';
import {
  ContainerStatusRequest,
  ContainerStatusResponse,
  ListContainersRequest,
  ListContainersResponse,
  ListPodSandboxRequest,
  ListPodSandboxResponse,
  PodSandboxStatusRequest,
  PodSandboxStatusResponse,
  VersionRequest,
  VersionResponse,
} from './generated/cri.ts';
import { RUNTIME_CALL_MS, SOCKET_PATH_BYTES_MAX } from './limits.ts';
import { RuntimeCallError } from './runtime-call-error.ts';
import { type RuntimeReply, Wire } from './wire.ts';

/**
 * One connection to one runtime. Each call ends within its time limit: answered, or rejected with
 * a RuntimeCallError. It reconnects to a restarted runtime.
 */
export interface RuntimeConnection {
  version(): Promise<RuntimeReply<VersionResponse>>;
  listPodSandbox(): Promise<RuntimeReply<ListPodSandboxResponse>>;
  listContainers(): Promise<RuntimeReply<ListContainersResponse>>;
  /** With `verbose`, also the `info` of the runtime. */
  containerStatus(id: string, verbose?: boolean): Promise<RuntimeReply<ContainerStatusResponse>>;
  /** With the `info` of the runtime. */
  podSandboxStatus(id: string): Promise<RuntimeReply<PodSandboxStatusResponse>>;
  /** Ends running calls; afterwards the connection does not prevent the process from exiting. */
  close(): void;
}

/** The first call connects. Throws for a path that cannot be a socket. */
export function connectRuntime(
  socketPath: string,
  { limitMs = RUNTIME_CALL_MS }: { readonly limitMs?: number } = {},
): RuntimeConnection {
  const wire = new Wire(checkedPath(socketPath), limitMs);
  return {
    version: () =>
      wire.call('Version', VersionRequest.encode({ version: '0.1.0' }), VersionResponse),
    listPodSandbox: () =>
      wire.call('ListPodSandbox', ListPodSandboxRequest.encode({}), ListPodSandboxResponse),
    listContainers: () =>
      wire.call('ListContainers', ListContainersRequest.encode({}), ListContainersResponse),
    containerStatus: (containerId, verbose = false) => {
      const request = ContainerStatusRequest.encode({ containerId, verbose });
      return wire.call('ContainerStatus', request, ContainerStatusResponse);
    },
    podSandboxStatus: (podSandboxId) => {
      const request = PodSandboxStatusRequest.encode({ podSandboxId, verbose: true });
      return wire.call('PodSandboxStatus', request, PodSandboxStatusResponse);
    },
    close: () => wire.close(),
  };
}

export function checkedPath(socketPath: string): string {
  const path = normalize(socketPath);
  // "/run/containerd/containerd.sock\n", read from a file without trimming
  const isOneLine = !/[\0\n\r]/.test(path);
  const source = `runtime socket ${JSON.stringify(socketPath)}`;
  if (!isAbsolute(path) || !isOneLine) {
    throw new RuntimeCallError('failed', source, 'is no absolute path of a socket');
  }
  const bytes = Buffer.byteLength(path);
  // Some systems truncate a longer path, which could then be that of another socket.
  if (bytes > SOCKET_PATH_BYTES_MAX) {
    const detail =
      `${bytes} bytes are too long for a socket, which can have ${SOCKET_PATH_BYTES_MAX}; ` +
      'name it by a shorter path, for example a symbolic link';
    throw new RuntimeCallError('failed', source, detail);
  }
  return path;
}
