import { listAt, textAt } from '../../../lib/std/json.ts';
import { attempt, defineEvidence, type Snapshot } from '../../model/evidence.ts';
import { ReadError, type ReadFailure } from '../../model/node-reader.ts';
import { kubelet } from '../kubelet/kubelet.ts';

/** The container runtime of the kubelet. It has answered. */
export interface Runtime {
  readonly socket: string;
  readonly name: string;
  readonly version: string;
  readonly criVersion: 'v1' | 'v1alpha2';
}

/** The default sockets of runtimes, the most likely first. */
const USUAL_SOCKETS = [
  '/run/containerd/containerd.sock',
  '/run/crio/crio.sock',
  '/run/k3s/containerd/containerd.sock',
  '/run/cri-dockerd.sock',
  '/run/dockershim.sock',
  '/var/run/dockershim.sock',
  '/run/isulad.sock',
  '/var/run/isulad.sock',
  '/var/snap/microk8s/common/run/containerd.sock',
  '/run/k0s/containerd.sock',
] as const;

export const runtime = defineEvidence<Runtime>({
  id: 'runtime',
  title: 'The container runtime',
  command: 'crictl version',
  isDerived: true,
  collect: async (snapshot) => {
    const { runtimeSocket } = await snapshot.of(kubelet);
    if (runtimeSocket) return askVersion(snapshot, runtimeSocket);
    return findRuntime(snapshot);
  },
});

/** Nothing listens there, or not a CRI runtime: Docker's own containerd, for example. */
const IS_NONE: ReadonlySet<ReadFailure> = new Set(['missing', 'unsupported']);

/** A node can have several runtimes. The kubelet uses the one that has pods. */
async function findRuntime(snapshot: Snapshot): Promise<Runtime> {
  const failures: string[] = [];
  const errors: ReadError[] = [];
  let idle: Runtime | undefined;
  for (const socket of USUAL_SOCKETS) {
    const answered = await attempt(askVersion(snapshot, socket));
    if (!answered.known) {
      if (IS_NONE.has(answered.error.failure)) continue;
      failures.push(`${socket}: ${answered.why}`);
      errors.push(answered.error);
      continue;
    }
    if (await hasPods(snapshot, socket)) return answered.value;
    idle ??= answered.value;
  }
  // A runtime that did not answer may be the one with the pods, so an idle one does not replace it.
  if (failures.length > 0) {
    const detail = `none answers (${failures.join('; ')})`;
    throw new ReadError('failed', 'container runtime', detail, { cause: errors });
  }
  if (idle) return idle;
  const why = 'no socket at any of the usual places; pass --runtime-endpoint';
  throw new ReadError('missing', 'container runtime', why);
}

async function hasPods(snapshot: Snapshot, socket: string): Promise<boolean> {
  const { message } = await snapshot.node.ask('runtime', { socket, call: 'ListPodSandbox' });
  return (listAt(message, 'items') ?? []).length > 0;
}

async function askVersion(snapshot: Snapshot, socket: string): Promise<Runtime> {
  const { criVersion, message } = await snapshot.node.ask('runtime', { socket, call: 'Version' });
  const name = textAt(message, 'runtimeName');
  const version = textAt(message, 'runtimeVersion');
  if (!name || version === undefined) {
    throw new ReadError('malformed', 'CRI Version', 'the runtime does not say its name');
  }
  return { socket, name, version, criVersion };
}
