import { isWithin } from '../text/file-path.ts';
import type { MountNamespace } from './mount-namespaces.ts';
import type { Mount, MountTable } from './mount-table.ts';

/** A place inside a filesystem: the same wherever, and under whichever path, it is mounted. */
export interface Place {
  /** "254:1" */
  readonly device: string;
  readonly path: string;
}

/** A mount of some namespace that stands on a place. */
export interface PlacedMount {
  readonly namespace: MountNamespace;
  readonly mount: Mount;
}

/**
 * Where a path lies, as the owner of this table sees it: the walk goes from mount to mount as the
 * kernel's does, so what is covered is not taken for what is seen. A mount on the path itself does
 * not count: asked for is the folder that it stands on. Undefined when the table shows no root.
 */
export function placeOf(path: string, table: MountTable): Place | undefined {
  return placeIn(lastMountOn(path, table), path);
}

/** The mount of this table that shows what is seen at a path: the last one on it or above it. */
export function mountShowing(path: string, table: MountTable): Mount | undefined {
  // Nothing is mounted on a path below it that does not exist; one name more is always above it.
  return lastMountOn(`${path === '/' ? '' : path}/.`, table);
}

/** What is seen at a path, as a place: the mount on it counts. */
export function shownAt(path: string, table: MountTable): Place | undefined {
  return placeIn(mountShowing(path, table), path);
}

function placeIn(mount: Mount | undefined, path: string): Place | undefined {
  return mount && { device: mount.device, path: insideOf(mount, path) };
}

/** The last of the mounts that a walk along the path comes upon; none when there is no root. */
function lastMountOn(path: string, table: MountTable): Mount | undefined {
  const { roots, children } = treeOf(table);
  let here = roots.findLast(({ target }) => target === '/');
  for (let next = here; next; next = coverOf(path, next, children)) here = next;
  return here;
}

/** The paths under which a table shows a place; one that another mount covers may be among them. */
export function pathsOf(place: Place, table: MountTable): readonly string[] {
  return table.mounts.flatMap(({ device, root, target }) => {
    if (device !== place.device || !isWithin(place.path, root)) return [];
    const rest = root === '/' ? place.path : place.path.slice(root.length);
    return [`${target === '/' ? '' : target}${rest === '/' ? '' : rest}` || '/'];
  });
}

/**
 * Who has something mounted on a path of the kubelet's namespace, in any namespace. Paths are no
 * guide there (a container sees the node's root at /host), so places are compared.
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
    // Twenty thousand leftovers are in a few folders: each is resolved once.
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

/** Every mount that stands on this filesystem, by the place on which it stands. */
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

/** Of the mounts that stand on this one, the first that a walk along the path comes upon. */
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

/** A path below a mount's target, as a path inside the filesystem that it shows. */
function insideOf({ root, target }: Mount, path: string): string {
  const rest = target === '/' ? path : path.slice(target.length);
  return root === '/' ? rest || '/' : `${root}${rest === '/' ? '' : rest}`;
}

interface MountTree {
  readonly byId: ReadonlyMap<number, Mount>;
  readonly children: ReadonlyMap<number, readonly Mount[]>;
  /** Mounts whose parent the table does not show: the root of the namespace, or of a chroot. */
  readonly roots: readonly Mount[];
}

/** Made once for each table, and only for those that are walked. */
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
