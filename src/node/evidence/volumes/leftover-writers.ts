import { mapAtOnce } from '../../../lib/std/map-at-once.ts';
import { attempt, type Snapshot } from '../../model/evidence.ts';
import type { ProcessEntry } from '../../model/node-reader.ts';
import { PROCESSES_AT_ONCE_MAX, WRITERS_ASKED_MAX } from '../limits.ts';
import type { MountNamespace, MountNamespaces } from '../mounts/mount-namespaces.ts';
import { type Place, type PlacedMount, pathsOf, shownAt } from '../mounts/mount-places.ts';
import type { MountTable } from '../mounts/mount-table.ts';
import { isWithin } from '../text/file-path.ts';

/** A process with an open file in the directory of a volume. */
export interface Writer {
  readonly process: ProcessEntry;
  /** The directory of the volume, as the kubelet sees it. */
  readonly base: string;
  /** "fd/5", "cwd" */
  readonly by: string;
  /** As that process sees it. */
  readonly path: string;
}

export interface Writers {
  readonly writers: readonly Writer[];
  /** False if there were more processes than the limit, or some could not be read. */
  readonly isWhole: boolean;
}

/** The directory of a volume, and the mounts on it. */
export interface Base {
  readonly path: string;
  readonly mounts: readonly PlacedMount[];
}

/**
 * The processes that still use volumes whose teardown failed. A container has other paths, so each
 * open file is converted into a place in a filesystem, and places are compared.
 */
export async function writersBelow(
  snapshot: Snapshot,
  bases: readonly Base[],
  around: {
    readonly top: string;
    readonly namespaces: MountNamespaces;
    readonly table: MountTable;
  },
): Promise<Writers> {
  if (bases.length === 0) return { writers: [], isWhole: true };
  const contents = contentsOf(bases, around.table);
  const top = shownAt(around.top, around.table);
  const processes = await snapshot.node.ask('processes', { all: 'processes' });
  const byPid = new Map(processes.map((process) => [process.pid, process]));
  const asked = around.namespaces.namespaces
    .map((namespace) => ({ namespace, ...waysInto(namespace, contents, top) }))
    .filter(({ under, mountIds }) => under.length > 0 || mountIds.length > 0)
    // First processes that have the volume itself mounted, then those that see the node's
    // directories.
    .toSorted((left, right) => right.mountIds.length - left.mountIds.length)
    .flatMap((way) => way.namespace.pids.flatMap((pid) => ({ ...way, process: byPid.get(pid) })))
    .filter(({ process }) => process && !isKernels(process));
  const some = asked.slice(0, WRITERS_ASKED_MAX);
  const reported = await mapAtOnce(some, PROCESSES_AT_ONCE_MAX, (way) =>
    heldBy(snapshot, way, contents),
  );
  return {
    writers: reported.flatMap((held) => held ?? []),
    isWhole: asked.length <= WRITERS_ASKED_MAX && !reported.includes(undefined),
  };
}

/** What a volume's directory shows: its own filesystem, or a part of the node's. */
interface Content extends Place {
  readonly base: string;
}

function contentsOf(bases: readonly Base[], table: MountTable): readonly Content[] {
  return bases.flatMap(({ path: base, mounts }) => {
    const shown = shownAt(base, table);
    const elsewhere = mounts.map(({ mount }) => ({
      base,
      device: mount.device,
      path: mount.root,
    }));
    return [...(shown ? [{ base, ...shown }] : []), ...elsewhere];
  });
}

interface Way {
  readonly namespace: MountNamespace;
  readonly under: readonly string[];
  readonly mountIds: readonly number[];
  readonly process?: ProcessEntry | undefined;
}

function waysInto(
  { table }: MountNamespace,
  contents: readonly Content[],
  top: Place | undefined,
): Pick<Way, 'under' | 'mountIds'> {
  const devices = new Set(contents.map(({ device }) => device));
  const mountIds = table.mounts
    .filter(({ device }) => devices.has(device))
    .filter(({ device, root }) =>
      contents.some((content) => liesIn({ device, path: root }, content)),
    )
    .map(({ id }) => id);
  return { under: top ? pathsOf(top, table) : [], mountIds };
}

// 2 (kthreadd) S 0 0 0 0: the parent of all kernel threads, which open no files.
function isKernels({ pid, parent }: ProcessEntry): boolean {
  return pid === 2 || parent === 2;
}

/** Undefined if unknown. A process that has exited holds nothing. */
async function heldBy(
  snapshot: Snapshot,
  { process, namespace, under, mountIds }: Way,
  contents: readonly Content[],
): Promise<readonly Writer[] | undefined> {
  if (!process) return [];
  const asked = { filesOf: process.pid, under, mountIds };
  const answer = await attempt(snapshot.node.ask('openFiles', asked));
  if (!answer.known) return answer.error.failure === 'missing' ? [] : undefined;
  const found = new Map<string, Writer>();
  for (const { by, path } of answer.value) {
    // /data/app.log (deleted): the kernel marks an unlinked file.
    const place = shownAt(path.replace(/ \(deleted\)$/, ''), namespace.table);
    const content = place && contents.find((one) => liesIn(place, one));
    // One open file per volume is enough.
    if (content && !found.has(content.base)) {
      found.set(content.base, { process, base: content.base, by, path });
    }
  }
  return [...found.values()];
}

function liesIn(place: Place, folder: Place): boolean {
  return place.device === folder.device && isWithin(place.path, folder.path);
}
