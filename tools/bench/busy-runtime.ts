import { status } from '@grpc/grpc-js';
import { type Calls, serveCalls } from '../../lab/runtime/serve-calls.ts';
import {
  ContainerState,
  ContainerStatusRequest,
  ContainerStatusResponse,
  ListContainersResponse,
  ListPodSandboxResponse,
  PodSandboxState,
  VersionResponse,
} from '../../src/lib/cri/generated/cri.ts';
import {
  type BusyContainer,
  type BusyPod,
  busyPods,
  NAMESPACE,
  subpathTarget,
} from './busy-pods.ts';

/**
 * Stands for the container runtime of the busy node: `busy-runtime.ts SOCKET PODS KUBELET_ROOT`. Its
 * answers are made once, so that their making is not measured.
 */
const [socket = '', count = '', root = ''] = process.argv.slice(2);
const CREATED_AT = '1622613681000000000';
const pods = busyPods(Number(count));

function labelsOf(pod: BusyPod): Record<string, string> {
  return {
    app: 'web',
    'io.kubernetes.pod.name': pod.name,
    'io.kubernetes.pod.namespace': NAMESPACE,
    'io.kubernetes.pod.uid': pod.uid,
  };
}

function containerOf(pod: BusyPod, { id, name, state }: BusyContainer) {
  return {
    id,
    metadata: { name, attempt: 3 },
    image: { image: `registry.example/${name}:1.0` },
    imageRef: `registry.example/${name}@sha256:${id}`,
    state: state === 'running' ? ContainerState.CONTAINER_RUNNING : ContainerState.CONTAINER_EXITED,
    createdAt: CREATED_AT,
    labels: { ...labelsOf(pod), 'io.kubernetes.container.name': name },
    annotations: {
      'io.kubernetes.container.hash': id.slice(0, 8),
      'io.kubernetes.container.restartCount': '3',
      'io.kubernetes.container.terminationMessagePath': '/dev/termination-log',
      'io.kubernetes.container.terminationMessagePolicy': 'File',
      'io.kubernetes.pod.terminationGracePeriod': '30',
    },
  };
}

function refusalOf(pod: BusyPod): string {
  const target = subpathTarget(root, pod, 0);
  return (
    'failed to create containerd task: failed to create shim task: OCI runtime create failed: ' +
    'container_linux.go:370: starting container process caused: process_linux.go:459: container ' +
    `init caused: rootfs_linux.go:59: mounting "${target}" to rootfs at "/etc/nginx/nginx0.conf" ` +
    'caused: no such file or directory: unknown'
  );
}

const sandboxes = ListPodSandboxResponse.encode({
  items: pods.map((pod) => ({
    id: pod.sandboxId,
    metadata: { name: pod.name, uid: pod.uid, namespace: NAMESPACE, attempt: 0 },
    state: PodSandboxState.SANDBOX_READY,
    createdAt: CREATED_AT,
    labels: labelsOf(pod),
    annotations: { 'kubernetes.io/config.source': 'api' },
    runtimeHandler: '',
  })),
});
const containers = ListContainersResponse.encode({
  containers: pods.flatMap((pod) =>
    pod.containers.map((it) => ({ ...containerOf(pod, it), podSandboxId: pod.sandboxId })),
  ),
});
const statuses = new Map(
  pods.flatMap((pod) =>
    pod.containers.map((it) => {
      const isRefused = it.exitCode !== 0;
      const message = ContainerStatusResponse.encode({
        info: {},
        status: {
          ...containerOf(pod, it),
          startedAt: CREATED_AT,
          finishedAt: CREATED_AT,
          exitCode: it.exitCode,
          reason: isRefused ? 'StartError' : 'Completed',
          message: isRefused ? refusalOf(pod) : '',
          mounts: [],
          logPath: `/var/log/pods/${NAMESPACE}_${pod.name}_${pod.uid}/${it.name}/3.log`,
        },
      });
      return [it.id, Buffer.from(message.finish())] as const;
    }),
  ),
);
const version = VersionResponse.encode({
  version: '0.1.0',
  runtimeName: 'containerd',
  runtimeVersion: 'v1.4.12',
  runtimeApiVersion: 'v1',
});

const [versionBytes, sandboxBytes, containerBytes] = [version, sandboxes, containers].map((it) =>
  Buffer.from(it.finish()),
);
const calls: Calls = {
  Version: (_, reply) => reply(null, versionBytes),
  ListPodSandbox: (_, reply) => reply(null, sandboxBytes),
  ListContainers: (_, reply) => reply(null, containerBytes),
  ContainerStatus: (request, reply) => {
    const found = statuses.get(ContainerStatusRequest.decode(request).containerId);
    if (found) reply(null, found);
    else reply({ code: status.NOT_FOUND, details: 'no such container' });
  },
};
await serveCalls(socket, { 'runtime.v1.RuntimeService': calls });
process.stdout.write('ready\n');
