import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { status as grpcStatus, type sendUnaryData } from '@grpc/grpc-js';
import * as cri from '../../src/lib/cri/generated/cri.ts';
import { messageOf } from '../../src/lib/std/message-of.ts';
import { PLACES } from '../places.ts';
import type { Decoding, Encoding } from './cri-driver.ts';
import * as drive from './generated/cri-drive.ts';
import { listedOf, sandboxOf, statusOf } from './runtime-objects.ts';
import { type Calls, serveCalls } from './serve-calls.ts';
import { NotFound, StandInRuntime } from './stand-in-runtime.ts';

/** The part "runtime" of a practice node: the stand-in container runtime. */
export async function runRuntime([
  socket = PLACES.runtimeSocket,
]: readonly string[]): Promise<void> {
  // The process name of a real runtime, so that checks find it.
  await writeFile('/proc/self/comm', 'containerd');
  await mkdir(dirname(socket), { recursive: true });
  // A killed runtime leaves its socket, which must be removed before listening.
  await rm(socket, { force: true });
  await serveCalls(socket, {
    'runtime.v1.RuntimeService': runtimeCalls(new StandInRuntime()),
    'runtime.v1.ImageService': imageCalls(),
  });
  process.stdout.write('ready\n');
}

type Call = Calls[string];

/** Its own name, so that users do not mistake it for a real runtime. */
const VERSION = {
  version: '0.1.0',
  runtimeName: 'kubediag-practice',
  runtimeVersion: '1.0.0',
  runtimeApiVersion: 'v1',
} as const;

/** The responses of the stand-in runtime to each call, and its errors. */
function runtimeCalls(runtime: StandInRuntime): Calls {
  return {
    Version: call(cri.VersionRequest, cri.VersionResponse, () => VERSION),
    Status: call(drive.StatusRequest, drive.StatusResponse, () => ({
      status: {
        conditions: ['RuntimeReady', 'NetworkReady'].map((type) => ({ type, status: true })),
      },
    })),
    ListPodSandbox: call(cri.ListPodSandboxRequest, cri.ListPodSandboxResponse, () => ({
      items: runtime.pods.map(sandboxOf),
    })),
    PodSandboxStatus: call(
      cri.PodSandboxStatusRequest,
      cri.PodSandboxStatusResponse,
      ({ podSandboxId }) => ({ status: sandboxOf(runtime.pod(podSandboxId)), info: {} }),
    ),
    ListContainers: call(cri.ListContainersRequest, cri.ListContainersResponse, () => ({
      containers: runtime.containers.map(listedOf),
    })),
    ContainerStatus: call(
      cri.ContainerStatusRequest,
      cri.ContainerStatusResponse,
      ({ containerId }) => ({ status: statusOf(runtime.container(containerId)), info: {} }),
    ),
    ...commandCalls(runtime),
  };
}

function commandCalls(runtime: StandInRuntime): Calls {
  /** A call with an empty response. */
  const command = <Request>(
    request: Decoding<Request>,
    obey: (request: Request) => Promise<void>,
  ) =>
    call(request, drive.Nothing, async (message) => {
      await obey(message);
      return {};
    });
  return {
    RunPodSandbox: call(
      drive.RunPodSandboxRequest,
      drive.RunPodSandboxResponse,
      async ({ config }) => ({
        podSandboxId: await runtime.runPod(config ?? drive.PodSandboxConfig.fromPartial({})),
      }),
    ),
    StopPodSandbox: command(cri.StopPodSandboxRequest, ({ podSandboxId }) =>
      runtime.stopPod(podSandboxId),
    ),
    RemovePodSandbox: command(cri.RemovePodSandboxRequest, ({ podSandboxId }) =>
      runtime.removePod(podSandboxId),
    ),
    CreateContainer: call(
      drive.CreateContainerRequest,
      drive.CreateContainerResponse,
      async ({ podSandboxId, config = drive.ContainerConfig.fromPartial({}) }) => ({
        containerId: await runtime.createContainer(podSandboxId, config),
      }),
    ),
    StartContainer: command(drive.StartContainerRequest, ({ containerId }) =>
      runtime.startContainer(containerId),
    ),
    StopContainer: command(drive.StopContainerRequest, ({ containerId }) =>
      runtime.stopContainer(containerId),
    ),
    RemoveContainer: command(cri.RemoveContainerRequest, ({ containerId }) =>
      runtime.removeContainer(containerId),
    ),
  };
}

/** Claims to have every image, because it runs none of them. */
function imageCalls(): Calls {
  return {
    ImageStatus: call(drive.ImageStatusRequest, drive.ImageStatusResponse, ({ image }) => ({
      image: image && { id: image.image },
    })),
  };
}

function call<Request, Response>(
  request: Decoding<Request>,
  response: Encoding<Response>,
  answer: (request: Request) => Response | Promise<Response>,
): Call {
  const bytesOf = async (bytes: Buffer) => {
    const message = await answer(request.decode(bytes));
    return Buffer.from(response.encode(message).finish());
  };
  return (bytes: Buffer, reply: sendUnaryData<Buffer>) => {
    bytesOf(bytes).then(
      (answered) => reply(null, answered),
      (error: unknown) => {
        const code = error instanceof NotFound ? grpcStatus.NOT_FOUND : grpcStatus.UNKNOWN;
        reply({ code, details: messageOf(error) });
      },
    );
  };
}
