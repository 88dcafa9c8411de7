import { numberAt, textAt } from '../../../lib/std/json.ts';
import { mapAtOnce } from '../../../lib/std/map-at-once.ts';
import { shortId } from '../../../lib/std/short-id.ts';
import { defineEvidence, type Snapshot } from '../../model/evidence.ts';
import { ReadError } from '../../model/node-reader.ts';
import type { Origin } from '../../model/origin.ts';
import { STATUS_CALLS_AT_ONCE, STATUSES_MAX } from '../limits.ts';
import { mountTable } from '../mounts/mount-table.ts';
import { unlessMissing } from '../text/file-path.ts';
import {
  attemptBefore,
  type Container,
  containers,
  nanoseconds,
  newestOf,
  stateIn,
} from './containers.ts';
import { runtime } from './runtime.ts';

/** The ContainerStatus of one container. */
export interface ContainerStatus {
  /** May differ from the list: dockershim lists a container whose start failed as created. */
  readonly state: Container['state'];
  /** Set for a container that has exited. */
  readonly exitCode?: number;
  readonly reason: string;
  readonly message: string;
  /** Nanoseconds since 1970. */
  readonly finishedAt: bigint;
  /** The time since then, by the clock of the node. */
  readonly endedForMs: number;
  readonly origin: Origin;
}

/** The key is the container id. */
export type ContainerStatuses = ReadonlyMap<string, ContainerStatus>;

/**
 * Each status is a call to the runtime, and a large node has hundreds of containers. So only pods
 * with a mount that lost its source are asked about, and only the newest container of each name, if
 * it does not run. One that is only created may be an attempt that has not failed yet, so then the
 * attempt before is asked about too.
 */
export const containerStatuses = defineEvidence<ContainerStatuses>({
  id: 'container-statuses',
  title: 'Containers that do not run, in pods whose mounts lost their sources',
  command: 'crictl inspect $(crictl ps -a -q)',
  isDerived: true,
  collect: async (snapshot) => {
    const [{ mounts }, { containers: list }, { socket }] = await Promise.all([
      snapshot.of(mountTable),
      snapshot.of(containers),
      snapshot.of(runtime),
    ]);
    const lost = mounts.filter(({ isDeleted }) => isDeleted);
    // All names in the paths, including the pod UIDs.
    const names = new Set(lost.flatMap(({ target }) => target.split('/')));
    const affected = list.filter(({ podUid }) => names.has(podUid));
    const newest = idleIn(affected);
    const statuses = await askStatuses(snapshot, socket, newest);
    const starting = newest.filter(({ id }) => statuses.get(id)?.state === 'created');
    const before = starting.flatMap((each) => attemptBefore(affected, each) ?? []);
    return new Map([...statuses, ...(await askStatuses(snapshot, socket, before))]);
  },
});

function idleIn(list: readonly Container[]): readonly Container[] {
  const byName = Map.groupBy(list, ({ podUid, name }) => `${podUid}/${name}`);
  const newest = [...byName.values()].flatMap((group) => newestOf(group) ?? []);
  return newest.filter(({ state }) => state !== 'running');
}

async function askStatuses(
  snapshot: Snapshot,
  socket: string,
  idle: readonly Container[],
): Promise<ContainerStatuses> {
  if (idle.length > STATUSES_MAX) {
    const why = `${idle.length} containers that do not run, more than ${STATUSES_MAX}`;
    throw new ReadError('too-large', 'CRI ListContainers', why);
  }
  const statuses = new Map<string, ContainerStatus>();
  await mapAtOnce(idle, STATUS_CALLS_AT_ONCE, async ({ id }) => {
    // If the container was removed since it was listed, there is nothing to report.
    const status = await unlessMissing(askStatus(snapshot, socket, id));
    if (status) statuses.set(id, status);
  });
  return statuses;
}

const NANOSECONDS_PER_MS = 1_000_000n;

/** Its status now; it is not cached. */
export async function askStatus(
  snapshot: Snapshot,
  socket: string,
  id: string,
): Promise<ContainerStatus> {
  const { message } = await snapshot.node.ask('runtime', { socket, call: 'ContainerStatus', id });
  const exitCode = numberAt(message, 'status', 'exitCode');
  const state = stateIn(textAt(message, 'status', 'state'));
  const origin = { criCall: 'ContainerStatus', id: shortId(id) };
  if (exitCode === undefined) throw new ReadError('malformed', origin, 'it has no exit code');
  const finishedAt = nanoseconds(textAt(message, 'status', 'finishedAt'));
  return {
    state,
    ...(state === 'exited' ? { exitCode } : {}),
    reason: textAt(message, 'status', 'reason') ?? '',
    message: textAt(message, 'status', 'message') ?? '',
    finishedAt,
    endedForMs: snapshot.node.now().getTime() - Number(finishedAt / NANOSECONDS_PER_MS),
    origin,
  };
}
