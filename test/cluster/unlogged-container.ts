import { CriDriver } from '../../lab/runtime/cri-driver.ts';
import * as cri from '../../lab/runtime/generated/cri-drive.ts';
import type { SharedCluster } from './shared-cluster.ts';

/** Not the driver's own time limit: a runtime that is well makes a container within seconds. */
const CALL_MS = 30_000;

/** How the container is called, and whether it carries the labels of an orphaned pod. */
export interface UnloggedOptions {
  readonly name: string;
  readonly podUid?: string;
  readonly command: readonly string[];
  readonly image?: string;
}

export interface UnloggedContainer {
  readonly id: string;
  readonly sandboxId: string;
}

/**
 * What makes the kubelet delete entries of its working directory: a container made over CRI by
 * somebody who is no kubelet, with neither a log directory nor a log path.
 */
export async function makeUnloggedContainer(
  cluster: Pick<SharedCluster, 'image' | 'pid'>,
  { name, podUid, command, image = cluster.image }: UnloggedOptions,
): Promise<UnloggedContainer> {
  const driver = new CriDriver(`/proc/${cluster.pid}/root/run/containerd/containerd.sock`);
  try {
    const namespaceOptions = { network: 'NODE', pid: 'POD', ipc: 'POD' } as const;
    const labels: Record<string, string> =
      podUid === undefined
        ? {}
        : {
            'io.kubernetes.pod.name': name,
            'io.kubernetes.pod.namespace': 'default',
            'io.kubernetes.pod.uid': podUid,
            'io.kubernetes.container.name': name,
          };
    const pod = podUid === undefined ? {} : { namespace: 'default', uid: podUid };
    const sandboxConfig = cri.PodSandboxConfig.fromPartial({
      metadata: { name, ...pod },
      labels,
      linux: { securityContext: { namespaceOptions } },
    });
    const sandbox = await driver.call(
      'v1.RuntimeService/RunPodSandbox',
      [cri.RunPodSandboxRequest, cri.RunPodSandboxResponse],
      { config: sandboxConfig },
      CALL_MS,
    );
    const fixture = await driver.call(
      'v1.RuntimeService/CreateContainer',
      [cri.CreateContainerRequest, cri.CreateContainerResponse],
      cri.CreateContainerRequest.fromPartial({
        podSandboxId: sandbox.podSandboxId,
        sandboxConfig,
        config: {
          metadata: { name },
          image: { image },
          command: [...command],
          labels,
          linux: { securityContext: { namespaceOptions } },
        },
      }),
      CALL_MS,
    );
    const starting = driver.call(
      'v1.RuntimeService/StartContainer',
      [cri.StartContainerRequest, cri.Nothing],
      { containerId: fixture.containerId },
      CALL_MS,
    );
    // The kubelet may kill this sandbox, which it does not know, before the container starts. One that
    // ends at once is a dead container then too.
    await starting.catch((error: Error) => {
      if (command[0] !== 'true' || !/namespace path: lstat/.test(error.message)) throw error;
    });
    return { id: fixture.containerId, sandboxId: sandbox.podSandboxId };
  } finally {
    driver.close();
  }
}
