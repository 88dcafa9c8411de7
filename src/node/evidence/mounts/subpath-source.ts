import type { Mount, MountTable } from './mount-table.ts';

/** The parts of the target path of a subPath mount. */
export interface SubpathTarget {
  readonly podUid: string;
  /** The name of the volume spec: for a claim, the name of the persistent volume. */
  readonly volume: string;
  readonly container: string;
  /** Position among the container's volumeMounts. */
  readonly index: number;
}

/** Volumes that the kubelet can recreate from an API object. */
const REGENERABLE = ['configmap', 'secret', 'projected', 'downward-api'] as const;

export type SubpathSource =
  | { readonly regenerable: true; readonly kind: (typeof REGENERABLE)[number] }
  | { readonly regenerable: false; readonly kind: string };

// /var/lib/kubelet/pods/6f1c2a9e-.../volume-subpaths/settings/web/1
const BELOW_ROOT = /^\/pods\/([^/]+)\/volume-subpaths\/([^/]+)\/([^/]+)\/(\d+)$/;

/** Parses the target of a subPath mount of the kubelet; undefined for any other mount. */
export function subpathTarget(target: string, kubeletRoot: string): SubpathTarget | undefined {
  if (!target.startsWith(`${kubeletRoot}/pods/`)) return undefined;
  const [, podUid, volume, container, index] =
    BELOW_ROOT.exec(target.slice(kubeletRoot.length)) ?? [];
  if (!podUid || !volume || !container || !index) return undefined;
  return { podUid, volume, container, index: Number(index) };
}

/** The kind of volume that a subPath mount is from. */
export function subpathSource(mount: Mount, table: MountTable, kubeletRoot: string): SubpathSource {
  const target = subpathTarget(mount.target, kubeletRoot);
  if (!target) return { regenerable: false, kind: pluginIn(mount.root) ?? 'unknown' };
  const kind = REGENERABLE.find((plugin) => isPayload(mount, table, kubeletRoot, target, plugin));
  if (kind) return { regenerable: true, kind };
  const own = table.mounts.find(({ device, target: place }) => {
    return device === mount.device && isOfVolume(place, kubeletRoot, target);
  });
  // Only the mount of a volume's own filesystem contains the name of its plugin.
  const named = pluginIn(mount.root) ?? pluginIn(own?.target ?? '');
  return { regenerable: false, kind: named ?? 'unknown' };
}

// /var/lib/kubelet/pods/6f1c2a9e-.../volumes/kubernetes.io~csi/pvc-1/mount
function isOfVolume(place: string, kubeletRoot: string, of: SubpathTarget): boolean {
  const volumes = `${kubeletRoot}/pods/${of.podUid}/volumes/`;
  return place.startsWith(volumes) && place.slice(volumes.length).split('/')[1] === of.volume;
}

// ..2021_06_02_06_01_21.244319292/nginx.log
const PAYLOAD = /^\.\.\d{4}(?:_\d\d){5}\.\d+\/./;

/** Whether the mount's root is in a payload directory of the kubelet's atomic writer. */
function isPayload(
  mount: Mount,
  table: MountTable,
  kubeletRoot: string,
  { podUid, volume }: SubpathTarget,
  plugin: string,
): boolean {
  const below = `/pods/${podUid}/volumes/kubernetes.io~${plugin}/${volume}`;
  const folder = `${kubeletRoot}${below}`;
  const holder = mountHolding(folder, table, mount.device);
  if (!holder) return PAYLOAD.test(restAfter(mount.root, below));
  if (holder.device !== mount.device) return false;
  // The path of that directory inside the filesystem: its payload can only come from there.
  const inside = join(holder.root, folder.slice(holder.target === '/' ? 0 : holder.target.length));
  return mount.root.startsWith(`${inside}/`) && PAYLOAD.test(mount.root.slice(inside.length + 1));
}

/**
 * The mount that a path is on: the longest target that contains it. Kubelets sometimes mount
 * secrets twice: of stacked mounts, the one of this device, else the last.
 */
function mountHolding(path: string, table: MountTable, device: string): Mount | undefined {
  const places = mountsByTarget(table);
  for (let place = path; place !== ''; place = place.slice(0, place.lastIndexOf('/'))) {
    const here = places.get(place);
    if (here) return here.find((mount) => mount.device === device) ?? here.at(-1);
  }
  return places.get('/')?.at(-1);
}

/** Computed once per table: a node with thousands of subPath mounts looks up thousands of paths. */
const byTarget = new WeakMap<MountTable, ReadonlyMap<string, readonly Mount[]>>();

function mountsByTarget(table: MountTable): ReadonlyMap<string, readonly Mount[]> {
  const known = byTarget.get(table);
  if (known) return known;
  const created = Map.groupBy(table.mounts, ({ target }) => target);
  byTarget.set(table, created);
  return created;
}

/**
 * For a table without the filesystem's own mount (a kubelet in a chroot, a sample): the part after
 * the volume's directory, unless that directory is inside another volume and may be forged.
 */
function restAfter(root: string, below: string): string {
  const at = root.indexOf(`${below}/`);
  if (at < 0 || root.slice(0, at).includes('/volumes/')) return '';
  return root.slice(at + below.length + 1);
}

function join(root: string, rest: string): string {
  return root === '/' ? rest : `${root}${rest}`;
}

// /var/lib/kubelet/pods/6f1c/volumes/kubernetes.io~empty-dir/cache/sub
function pluginIn(path: string): string | undefined {
  return /\/volumes\/[^/]*~([^/]+)\//.exec(`${path}/`)?.[1];
}
