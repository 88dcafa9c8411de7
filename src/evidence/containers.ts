import { defineEvidence, type Look } from '../model/evidence.ts';
import { attempt } from '../node/attempt.ts';
import { ReadError } from '../node/node-reader.ts';
import { listAt, numberAt, textAt } from '../std/json.ts';
import { EXITED_STATUSES_MAX, STATUS_CALLS_AT_ONCE } from './limits.ts';
import { mountTable } from './mount-table.ts';
import { runtime } from './runtime.ts';

export interface Container {
  readonly id: string;
  readonly podUid: string;
  readonly podName: string;
  readonly podNamespace: string;
  readonly name: string;
  readonly attempt: number;
  readonly state: 'created' | 'running' | 'exited' | 'unknown';
  /** Nanoseconds since 1970, as CRI counts. */
  readonly createdAt: bigint;
  readonly sandboxId: string;
}

export interface Sandbox {
  readonly id: string;
  readonly podUid: string;
  readonly podName: string;
  readonly podNamespace: string;
  readonly isReady: boolean;
}

/** How a container ended, in the runtime's words. */
export interface ContainerEnd {
  readonly exitCode: number;
  readonly reason: string;
  readonly message: string;
  /** Nanoseconds since 1970. */
  readonly finishedAt: bigint;
  readonly origin: string;
}

/** What the runtime knows of the pods of this node. It is never stale, as the kubelet's list can be. */
export interface Containers {
  readonly containers: readonly Container[];
  readonly sandboxes: readonly Sandbox[];
  /**
   * How it ended, of the newest container of each name, when it does not run and its pod has a
   * mount that lost its source. Each is a call of its own, so of the others nobody asks.
   */
  readonly ends: ReadonlyMap<string, ContainerEnd>;
}

export const containers = defineEvidence<Containers>({
  id: 'containers',
  title: 'Containers and sandboxes as the runtime has them',
  collect: async (look) => {
    const { socket } = await look.of(runtime);
    const [sandboxList, containerList] = await Promise.all([
      look.node.ask('runtime', { socket, call: 'ListPodSandbox' }),
      look.node.ask('runtime', { socket, call: 'ListContainers' }),
    ]);
    const list = parseContainers(containerList.message);
    const suspects = await namesOnLostMounts(look);
    return {
      containers: list,
      sandboxes: parseSandboxes(sandboxList.message),
      ends: await askEnds(
        look,
        socket,
        list.filter(({ podUid }) => suspects.has(podUid)),
      ),
    };
  },
});

/** All names in the paths of such mounts; the UIDs of their pods are among them. */
async function namesOnLostMounts(look: Look): Promise<ReadonlySet<string>> {
  const table = await attempt(look.of(mountTable));
  const lost = table.known ? table.value.mounts.filter(({ isDeleted }) => isDeleted) : [];
  return new Set(lost.flatMap(({ target }) => target.split('/')));
}

/** The newest container of a name in a pod: the one whose state is the container's state. */
export function newestContainer(
  list: readonly Container[],
  podUid: string,
  name: string,
): Container | undefined {
  return list
    .filter((container) => container.podUid === podUid && container.name === name)
    .reduce<Container | undefined>(
      (newest, container) => (newest && isNewer(newest, container) ? newest : container),
      undefined,
    );
}

function isNewer(left: Container, right: Container): boolean {
  return left.createdAt === right.createdAt
    ? left.attempt > right.attempt
    : left.createdAt > right.createdAt;
}

async function askEnds(
  look: Look,
  socket: string,
  list: readonly Container[],
): Promise<ReadonlyMap<string, ContainerEnd>> {
  const newest = new Map<string, Container>();
  for (const container of list) {
    const key = `${container.podUid}/${container.name}`;
    const other = newest.get(key);
    if (!other || !isNewer(other, container)) newest.set(key, container);
  }
  const exited = [...newest.values()].filter(({ state }) => state === 'exited');
  if (exited.length > EXITED_STATUSES_MAX) {
    const why = `${exited.length} exited containers, more than ${EXITED_STATUSES_MAX}`;
    throw new ReadError('too-large', 'CRI ListContainers', why);
  }
  const ends = new Map<string, ContainerEnd>();
  const waiting = exited.values();
  const askNext = async (): Promise<void> => {
    for (const { id } of waiting) {
      const end = await attempt(askEnd(look, socket, id));
      if (end.known) ends.set(id, end.value);
      // Removed since it was listed, as every container is some day: then it has no end to tell.
      else if (end.error.failure !== 'missing') throw end.error;
    }
  };
  await Promise.all(Array.from({ length: STATUS_CALLS_AT_ONCE }, askNext));
  return ends;
}

async function askEnd(look: Look, socket: string, id: string): Promise<ContainerEnd> {
  const { message } = await look.node.ask('runtime', { socket, call: 'ContainerStatus', id });
  const exitCode = numberAt(message, 'status', 'exitCode');
  const origin = `CRI ContainerStatus ${id.slice(0, 13)}`;
  if (exitCode === undefined) throw new ReadError('malformed', origin, 'it has no exit code');
  return {
    exitCode,
    reason: textAt(message, 'status', 'reason') ?? '',
    message: textAt(message, 'status', 'message') ?? '',
    finishedAt: nanoseconds(textAt(message, 'status', 'finishedAt')),
    origin,
  };
}

const STATES: Readonly<Record<string, Container['state']>> = {
  CONTAINER_CREATED: 'created',
  CONTAINER_RUNNING: 'running',
  CONTAINER_EXITED: 'exited',
};

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
    state: STATES[textAt(item, 'state') ?? ''] ?? 'unknown',
    createdAt: nanoseconds(textAt(item, 'createdAt')),
    sandboxId: textAt(item, 'podSandboxId') ?? '',
  }));
}

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
function nanoseconds(text: string | undefined): bigint {
  return text !== undefined && /^-?\d{1,19}$/.test(text) ? BigInt(text) : 0n;
}
