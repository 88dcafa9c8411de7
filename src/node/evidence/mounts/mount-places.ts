import { isWithin } from '../text/file-path.ts';
import type { MountNamespace } from './mount-namespaces.ts';
import type { Mount, MountTable } from './mount-table.ts';

/** A place inside a filesystem. It is the same for every mount point and path. */
export interface Place {
  /** "254:1" */
  readonly device: string;
  readonly path: string;
}

/** A mount, in some namespace, on this place. */
export interface PlacedMount {
  readonly namespace: MountNamespace;
  readonly mount: Mount;
}

/**
 * The place of a path for a process with this table. The walk goes from mount to mount as in the
 * kernel, so that covered mounts do not count. A mount on the path itself does not count: the
 * result is the directory below it. Undefined if the table has no root.
 */
export function placeOf(path: string, table: MountTable): Place | undefined {
  return placeIn(lastMountOn(path, table), path);
}

/** The mount of this table that is visible at a path: the last one on it or above it. */
export function mountShowing(path: string, table: MountTable): Mount | undefined {
  // With "/." at its end, the walk includes a mount on the path itself.
  return lastMountOn(`${path === '/' ? '' : path}/.`, table);
}

/** The place that is visible at a path, including a mount on the path itself. */
export function shownAt(path: string, table: MountTable): Place | undefined {
  return placeIn(mountShowing(path, table), path);
}

function placeIn(mount: Mount | undefined, path: string): Place | undefined {
  return mount && { device: mount.device, path: insideOf(mount, path) };
}

/** The last mount of a walk along the path; undefined if the table has no root. */
function lastMountOn(path: string, table: MountTable): Mount | undefined {
  const { roots, children } = treeOf(table);
  let here = roots.findLast(({ target }) => target === '/');
  for (let next = here; next; next = coverOf(path, next, children)) here = next;
  return here;
}

/** The paths of a place in a table. Another mount may cover some of them. */
export function pathsOf(place: Place, table: MountTable): readonly string[] {
  return table.mounts.flatMap(({ device, root, target }) => {
    if (device !== place.device || !isWithin(place.path, root)) return [];
    const rest = root === '/' ? place.path : place.path.slice(root.length);
    return [`${target === '/' ? '' : target}${rest === '/' ? '' : rest}` || '/'];
  });
}

/**
 * The mounts, in any namespace, on a path of the kubelet's namespace. Paths differ between
 * namespaces (a container may have the node's root at /host), so places are compared.
 */
export function mountsOnPaths(
  namespaces: readonly MountNamespace[],
  table: MountTable,
): (path: string) => readonly PlacedMount[] {
  const byDevice = new Map<string, ReadonlyMap<string, readonly PlacedMount[]>>();
  const folders = new Map<string, Place | undefined>();
  return (path) => {
    const at = path.lastIndexOf('/');
    const folder = path.slice(0, at);
    // Twenty thousand leftovers are in a few directories, so each directory is resolved once.
    if (!folders.has(folder)) folders.set(folder, placeOf(path, table));
    const beside = folders.get(folder);
    if (!beside) return [];
    const parent = beside.path.slice(0, beside.path.lastIndexOf('/'));
    let placed = byDevice.get(beside.device);
    if (!placed) {
      placed = placedOn(beside.device, namespaces);
      byDevice.set(beside.device, placed);
    }
    return placed.get(`${parent}/${path.slice(at + 1)}`) ?? [];
  };
}

/** Every mount on this filesystem, by its place. */
function placedOn(
  device: string,
  namespaces: readonly MountNamespace[],
): ReadonlyMap<string, readonly PlacedMount[]> {
  const placed = new Map<string, PlacedMount[]>();
  for (const namespace of namespaces) {
    const { byId } = treeOf(namespace.table);
    for (const mount of namespace.table.mounts) {
      const parent = byId.get(mount.parent);
      if (!parent || parent === mount || parent.device !== device) continue;
      const path = insideOf(parent, mount.target);
      const here = placed.get(path);
      if (here) here.push({ namespace, mount });
      else placed.set(path, [{ namespace, mount }]);
    }
  }
  return placed;
}

/** The first mount on top of this one in a walk along the path. */
function coverOf(
  path: string,
  on: Mount,
  children: ReadonlyMap<number, readonly Mount[]>,
): Mount | undefined {
  let first: Mount | undefined;
  for (const child of children.get(on.id) ?? []) {
    const isAbove = child.target === '/' || path.startsWith(`${child.target}/`);
    if (isAbove && (!first || child.target.length < first.target.length)) first = child;
  }
  return first;
}

/** Converts a path below a mount point into a path inside the filesystem. */
function insideOf({ root, target }: Mount, path: string): string {
  const rest = target === '/' ? path : path.slice(target.length);
  return root === '/' ? rest || '/' : `${root}${rest === '/' ? '' : rest}`;
}

interface MountTree {
  readonly byId: ReadonlyMap<number, Mount>;
  readonly children: ReadonlyMap<number, readonly Mount[]>;
  /** Mounts without a parent in the table: the root of the namespace, or of a chroot. */
  readonly roots: readonly Mount[];
}

/** Computed once per table, and only for tables that are walked. */
const trees = new WeakMap<MountTable, MountTree>();

function treeOf(table: MountTable): MountTree {
  const known = trees.get(table);
  if (known) return known;
  const byId = new Map(table.mounts.map((mount) => [mount.id, mount]));
  const [roots, others]: [Mount[], Mount[]] = [[], []];
  for (const mount of table.mounts) {
    const isRoot = mount.parent === mount.id || !byId.has(mount.parent);
    (isRoot ? roots : others).push(mount);
  }
  const created = { byId, children: Map.groupBy(others, ({ parent }) => parent), roots };
  trees.set(table, created);
  return created;
}
