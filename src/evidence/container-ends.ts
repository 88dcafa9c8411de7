import { defineEvidence, type Look } from '../model/evidence.ts';
import { attempt } from '../node/attempt.ts';
import { ReadError } from '../node/node-reader.ts';
import { numberAt, textAt } from '../std/json.ts';
import { type Container, containers, isNewer, nanoseconds } from './containers.ts';
import { EXITED_STATUSES_MAX, STATUS_CALLS_AT_ONCE } from './limits.ts';
import { mountTable } from './mount-table.ts';
import { runtime } from './runtime.ts';

/** How a container ended, in the runtime's words. */
export interface ContainerEnd {
  readonly exitCode: number;
  readonly reason: string;
  readonly message: string;
  /** Nanoseconds since 1970. */
  readonly finishedAt: bigint;
  readonly origin: string;
}

/** By the id of the container. */
export type ContainerEnds = ReadonlyMap<string, ContainerEnd>;

/**
 * Each is a call to the runtime of its own, and a large node has hundreds: so only the newest
 * container of each name is asked about, and only in pods with a mount that lost its source.
 */
export const containerEnds = defineEvidence<ContainerEnds>({
  id: 'container-ends',
  title: 'How containers ended in pods whose mounts lost their sources',
  collect: async (look) => {
    const [{ mounts }, { containers: list }, { socket }] = await Promise.all([
      look.of(mountTable),
      look.of(containers),
      look.of(runtime),
    ]);
    const lost = mounts.filter(({ isDeleted }) => isDeleted);
    // All names in their paths; the UIDs of the pods are among them.
    const names = new Set(lost.flatMap(({ target }) => target.split('/')));
    return askEnds(look, socket, exitedIn(list.filter(({ podUid }) => names.has(podUid))));
  },
});

function exitedIn(list: readonly Container[]): readonly Container[] {
  const newest = new Map<string, Container>();
  for (const container of list) {
    const key = `${container.podUid}/${container.name}`;
    const other = newest.get(key);
    if (!other || !isNewer(other, container)) newest.set(key, container);
  }
  return [...newest.values()].filter(({ state }) => state === 'exited');
}

async function askEnds(
  look: Look,
  socket: string,
  exited: readonly Container[],
): Promise<ContainerEnds> {
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
