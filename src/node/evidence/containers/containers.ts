import { listAt, numberAt, textAt } from '../../../lib/std/json.ts';
import { defineEvidence } from '../../model/evidence.ts';
import { ReadError } from '../../model/node-reader.ts';
import { runtime } from './runtime.ts';

export interface Container {
  readonly id: string;
  readonly podUid: string;
  readonly podName: string;
  readonly podNamespace: string;
  readonly name: string;
  readonly attempt: number;
  readonly state: 'created' | 'running' | 'exited' | 'unknown';
  /** Nanoseconds since 1970, as in CRI. */
  readonly createdAt: bigint;
  readonly sandboxId: string;
  /** The image name that its creator used. */
  readonly image: string;
  /** It has the label of the broker that keadm starts (KubeEdge 1.13 and newer). */
  readonly isKeadmsBroker: boolean;
  /** It has the labels that only a kubelet sets on its containers. */
  readonly isKubelets: boolean;
}

export interface Sandbox {
  readonly id: string;
  readonly podUid: string;
  readonly podName: string;
  readonly podNamespace: string;
  readonly isReady: boolean;
}

/** The pods of this node in the runtime. Unlike the kubelet's list, this is never stale. */
export interface Containers {
  readonly containers: readonly Container[];
  readonly sandboxes: readonly Sandbox[];
}

export const containers = defineEvidence<Containers>({
  id: 'containers',
  title: 'Containers and sandboxes as the runtime has them',
  command: 'crictl ps -a -o json; crictl pods -o json',
  isDerived: true,
  collect: async (snapshot) => {
    const { socket } = await snapshot.of(runtime);
    const [sandboxList, containerList] = await Promise.all([
      snapshot.node.ask('runtime', { socket, call: 'ListPodSandbox' }),
      snapshot.node.ask('runtime', { socket, call: 'ListContainers' }),
    ]);
    return {
      containers: parseContainers(containerList.message),
      sandboxes: parseSandboxes(sandboxList.message),
    };
  },
});

/** The newest container of a name in a pod. Its state is the container state in Kubernetes. */
export function newestContainer(
  list: readonly Container[],
  podUid: string,
  name: string,
): Container | undefined {
  return newestOf(list.filter((each) => each.podUid === podUid && each.name === name));
}

/** The attempt before this container: the newest older one of its name in its pod. */
export function attemptBefore(
  list: readonly Container[],
  container: Container,
): Container | undefined {
  const { podUid, name } = container;
  const alike = list.filter((each) => each.podUid === podUid && each.name === name);
  return newestOf(alike.filter((each) => isNewer(container, each)));
}

export function newestOf(list: readonly Container[]): Container | undefined {
  return list.reduce<Container | undefined>(
    (newest, container) => (newest && isNewer(newest, container) ? newest : container),
    undefined,
  );
}

function isNewer(left: Container, right: Container): boolean {
  return left.createdAt === right.createdAt
    ? left.attempt > right.attempt
    : left.createdAt > right.createdAt;
}

const STATES: ReadonlyMap<string | undefined, Container['state']> = new Map([
  ['CONTAINER_CREATED', 'created'],
  ['CONTAINER_RUNNING', 'running'],
  ['CONTAINER_EXITED', 'exited'],
]);

/** A state that we do not know is unknown. */
export function stateIn(name: string | undefined): Container['state'] {
  return STATES.get(name) ?? 'unknown';
}

function parseContainers(message: unknown): readonly Container[] {
  const list = listAt(message, 'containers');
  if (!list) throw new ReadError('malformed', 'CRI ListContainers', 'it has no containers');
  return list.map((item) => ({
    id: required(textAt(item, 'id'), 'CRI ListContainers'),
    podUid: textAt(item, 'labels', 'io.kubernetes.pod.uid') ?? '',
    podName: textAt(item, 'labels', 'io.kubernetes.pod.name') ?? '',
    podNamespace: textAt(item, 'labels', 'io.kubernetes.pod.namespace') ?? '',
    name:
      textAt(item, 'labels', 'io.kubernetes.container.name') ??
      textAt(item, 'metadata', 'name') ??
      '',
    attempt: numberAt(item, 'metadata', 'attempt') ?? 0,
    state: stateIn(textAt(item, 'state')),
    createdAt: nanoseconds(textAt(item, 'createdAt')),
    sandboxId: textAt(item, 'podSandboxId') ?? '',
    image: textAt(item, 'image', 'image') ?? '',
    isKeadmsBroker: textAt(item, 'labels', 'io.kubeedge.edgecore/mqtt') !== undefined,
    isKubelets: KUBELETS_MARKS.every((mark) => textAt(item, 'annotations', mark) !== undefined),
  }));
}

/** Set by every kubelet since 1.5, in the same function as the container's log path. */
const KUBELETS_MARKS = [
  'io.kubernetes.container.hash',
  'io.kubernetes.container.restartCount',
  'io.kubernetes.container.terminationMessagePath',
];

function parseSandboxes(message: unknown): readonly Sandbox[] {
  const list = listAt(message, 'items');
  if (!list) throw new ReadError('malformed', 'CRI ListPodSandbox', 'it has no sandboxes');
  return list.map((item) => ({
    id: required(textAt(item, 'id'), 'CRI ListPodSandbox'),
    podUid:
      textAt(item, 'metadata', 'uid') ?? textAt(item, 'labels', 'io.kubernetes.pod.uid') ?? '',
    podName: textAt(item, 'metadata', 'name') ?? '',
    podNamespace: textAt(item, 'metadata', 'namespace') ?? '',
    isReady: textAt(item, 'state') === 'SANDBOX_READY',
  }));
}

function required(id: string | undefined, source: string): string {
  if (!id) throw new ReadError('malformed', source, 'an entry has no id');
  return id;
}

// 1780000000000000000
export function nanoseconds(text: string | undefined): bigint {
  return text !== undefined && /^-?\d{1,19}$/.test(text) ? BigInt(text) : 0n;
}
