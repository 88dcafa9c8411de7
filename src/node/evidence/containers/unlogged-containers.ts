import { numberAt, textAt } from '../../../lib/std/json.ts';
import { mapAtOnce } from '../../../lib/std/map-at-once.ts';
import { shortId } from '../../../lib/std/short-id.ts';
import { attempt, defineEvidence, type Maybe, type Snapshot } from '../../model/evidence.ts';
import { ReadError } from '../../model/node-reader.ts';
import type { Origin } from '../../model/origin.ts';
import { type Sweep, sweepFor, workingFolder } from '../deletions/working-folder.ts';
import { kubelet, podsPathOf } from '../kubelet/kubelet.ts';
import { LOG_PATH_CALLS_AT_ONCE, STATUSES_MAX } from '../limits.ts';
import { isServing } from '../processes/listening-port.ts';
import { unlessMissing } from '../text/file-path.ts';
import { type Producer, producerOf } from './container-producer.ts';
import { type Container, type Containers, containers, nanoseconds, stateIn } from './containers.ts';
import { runtime } from './runtime.ts';

/** A container whose log path is not the absolute path of a file. */
export interface UnloggedContainer
  extends Pick<Container, 'id' | 'name' | 'image' | 'state' | 'sandboxId'> {
  /** Nanoseconds since 1970, as text. With the id it identifies the container. */
  readonly createdAt: string;
  /**
   * empty: there is none. relative: below the kubelet's working directory. directory: the pod's log
   * directory, which cri-dockerd and iSulad return if only the sandbox was given one.
   */
  readonly kind: 'empty' | 'relative' | 'folder';
  readonly logPath: string;
  readonly producer: Producer;
  /** The pod according to its labels; empty if they name none. */
  readonly podUid: string;
  readonly podName: string;
  readonly podNamespace: string;
  /** The kubelet has a directory for that pod, so it has known the pod. */
  readonly hasPodFolder: boolean;
  /** Created by the kubelet, so the runtime loses log paths. */
  readonly isKubelets: boolean;
  /** The container runs, and a process listens on the MQTT port in its network namespace. */
  readonly isServing: boolean;
  readonly exitCode?: number;
  /** Nanoseconds since 1970; 0 if it has not exited. */
  readonly finishedAt: bigint;
  /** What the kubelet would delete in its working directory to remove the container's logs. */
  readonly sweep: Maybe<Sweep>;
  readonly origin: Origin;
}

export interface UnloggedContainers {
  readonly socket: string;
  /** "containerd 1.6.20" */
  readonly runtime: string;
  readonly containers: readonly UnloggedContainer[];
  /** All containers that the runtime lists, with any log path. */
  readonly listed: ReadonlySet<string>;
  readonly seenAt: Date;
}

/**
 * The runtime's list does not contain log paths, and a status call for every container of a large
 * node would be a thousand calls. So containers are skipped that run in a pod which the kubelet
 * knows, and have its labels: the kubelet sets these labels in the same function as the log path,
 * and does not collect a running container. This would be wrong only if the runtime lost all log
 * paths. One of them is checked to rule that out, and all of them if it has no log path. A
 * container that does not run is always checked: the kubelet collects it, and any program can copy
 * a label.
 */
export const unloggedContainers = defineEvidence<UnloggedContainers>({
  id: 'unlogged-containers',
  title: 'Containers without a log path',
  command: 'crictl inspect $(crictl ps -a -q)',
  collect: async (snapshot) => {
    const [{ socket, name, version }, all, pods] = await Promise.all([
      snapshot.of(runtime),
      snapshot.of(containers),
      attempt(podFolders(snapshot)),
    ]);
    const requester: Requester = { snapshot, socket, runtime: name, all };
    const isVouched = ({ state, isKubelets, podUid }: Container) =>
      state === 'running' && isKubelets && pods.known && pods.value.has(podUid);
    const asked = all.containers.filter((each) => !isVouched(each));
    const found = [
      ...(await askEach(requester, asked)),
      ...(await witness(requester, all.containers.filter(isVouched))),
    ];
    return {
      socket,
      runtime: `${name} ${version}`.trim(),
      containers: found.toSorted((left, right) => (left.id < right.id ? -1 : 1)),
      listed: new Set(all.containers.map(({ id }) => id)),
      seenAt: snapshot.node.now(),
    };
  },
});

interface Requester {
  readonly snapshot: Snapshot;
  readonly socket: string;
  readonly runtime: string;
  readonly all: Containers;
}

/** The first container that still exists stands for all running ones; see above. */
async function witness(requester: Requester, theirs: readonly Container[]) {
  for (const container of theirs) {
    const asked = await unlessMissing(askOne(requester, container));
    if (asked === undefined) continue; // Removed since it was listed.
    return asked === 'logged' ? [] : askEach(requester, theirs);
  }
  return [];
}

async function askEach(
  requester: Requester,
  list: readonly Container[],
): Promise<readonly UnloggedContainer[]> {
  if (list.length > STATUSES_MAX) {
    const why = `${list.length} containers to ask about, more than ${STATUSES_MAX}`;
    throw new ReadError('too-large', 'CRI ListContainers', why);
  }
  const asked = await mapAtOnce(list, LOG_PATH_CALLS_AT_ONCE, (container) =>
    unlessMissing(askOne(requester, container)),
  );
  return asked.filter((each) => each !== undefined && each !== 'logged');
}

async function askOne(
  requester: Requester,
  container: Container,
): Promise<UnloggedContainer | 'logged'> {
  const { snapshot, socket } = requester;
  const { id } = container;
  const asked = { socket, call: 'ContainerStatus', id } as const;
  const { message } = await snapshot.node.ask('runtime', asked);
  const origin = { criCall: 'ContainerStatus', id: shortId(id) };
  const logPath = textAt(message, 'status', 'logPath');
  if (logPath === undefined) throw new ReadError('malformed', origin, 'it has no log path field');
  const kind = await kindOf(requester, container, logPath);
  if (kind === 'file') return 'logged';
  // Only for a suspect: the recording then has the verbose status for a person to read.
  await attempt(snapshot.node.ask('runtime', { ...asked, verbose: true }));
  const state = stateIn(textAt(message, 'status', 'state'));
  const exitCode = numberAt(message, 'status', 'exitCode');
  const sandbox = requester.all.sandboxes.find((each) => each.id === container.sandboxId);
  // From the labels of the container, else from its sandbox.
  const podUid = container.podUid || sandbox?.podUid || '';
  return {
    id,
    name: container.name,
    image: container.image,
    state,
    createdAt: String(container.createdAt),
    sandboxId: container.sandboxId,
    kind,
    logPath,
    producer: producerOf({ ...container, sandbox }),
    podUid,
    podName: container.podName || sandbox?.podName || '',
    podNamespace: container.podNamespace || sandbox?.podNamespace || '',
    hasPodFolder: await hasPodFolder(snapshot, podUid),
    isKubelets: container.isKubelets,
    isServing: (state === 'running' || state === 'unknown') && (await isServing(snapshot, id)),
    ...(state === 'exited' && exitCode !== undefined ? { exitCode } : {}),
    finishedAt: nanoseconds(textAt(message, 'status', 'finishedAt')),
    // Read only if needed: a check of a healthy node does not read the working directory.
    sweep: kind === 'folder' ? NO_SWEEP : await attempt(sweepOf(snapshot, logPath)),
    origin,
  };
}

const NO_SWEEP = { known: false, why: 'its log path leads elsewhere' } as const;

/** All containers without a log path share one sweep. */
function sweepOf(snapshot: Snapshot, logPath: string): Promise<Sweep> {
  return logPath === '' ? snapshot.of(workingFolder) : sweepFor(snapshot, logPath);
}

// docker, iSulad: given a log directory and no file name, they return the directory.
const ANSWERS_FOLDERS = /^(?:docker|isulad?)/i;

async function kindOf(
  { snapshot, runtime: name }: Requester,
  { isKubelets }: Container,
  logPath: string,
): Promise<UnloggedContainer['kind'] | 'file'> {
  if (logPath === '') return 'empty';
  if (!logPath.startsWith('/')) return 'relative';
  if (isKubelets || !ANSWERS_FOLDERS.test(name)) return 'file';
  // A missing file was rotated, or its directory was deleted. Neither is this fault.
  const status = await unlessMissing(snapshot.node.ask('status', { path: logPath }));
  return status?.type === 'folder' ? 'folder' : 'file';
}

// 29da79e5-386c-4e0d-82c1-215f93ff955d, 8c4f0e2a9d3b4c5d6e7f8091a2b3c4d5
const POD_UID = /^[0-9A-Za-z][0-9A-Za-z-]*$/;

/** A kubelet creates the directory of a pod before the pod's first container. */
async function hasPodFolder(snapshot: Snapshot, podUid: string): Promise<boolean> {
  if (!POD_UID.test(podUid)) return false;
  const path = `${podsPathOf(await snapshot.of(kubelet))}/${podUid}`;
  return (await unlessMissing(snapshot.node.ask('status', { path }))) !== undefined;
}

async function podFolders(snapshot: Snapshot): Promise<ReadonlySet<string>> {
  const path = podsPathOf(await snapshot.of(kubelet));
  return new Set(await snapshot.node.ask('folder', { path }));
}
