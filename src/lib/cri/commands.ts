import { checkedPath } from './client.ts';
import {
  RemoveContainerRequest,
  RemovePodSandboxRequest,
  StopPodSandboxRequest,
} from './generated/cri.ts';
import { RUNTIME_COMMAND_MS } from './limits.ts';
import { Wire } from './wire.ts';

/**
 * Calls that change something in a runtime; only `repair` may use them. Each call ends within its time
 * limit, like those of the client, and is rejected with a RuntimeCallError. By the rules of CRI
 * none of them fails for something that is gone already, though some runtimes say `missing` then.
 */
export interface RuntimeCommands {
  /** Kills a running container and removes it in one call. */
  removeContainer(id: string): Promise<void>;
  stopPodSandbox(id: string): Promise<void>;
  removePodSandbox(id: string): Promise<void>;
  close(): void;
}

export function commandRuntime(socketPath: string): RuntimeCommands {
  const wire = new Wire(checkedPath(socketPath), RUNTIME_COMMAND_MS);
  const command = async (name: string, request: { finish(): Uint8Array }): Promise<void> => {
    // The responses are empty in every version of CRI.
    await wire.call(name, request, { decode: () => undefined });
  };
  return {
    removeContainer: (containerId) =>
      command('RemoveContainer', RemoveContainerRequest.encode({ containerId })),
    stopPodSandbox: (podSandboxId) =>
      command('StopPodSandbox', StopPodSandboxRequest.encode({ podSandboxId })),
    removePodSandbox: (podSandboxId) =>
      command('RemovePodSandbox', RemovePodSandboxRequest.encode({ podSandboxId })),
    close: () => wire.close(),
  };
}
