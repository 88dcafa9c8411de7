import type { Mount, MountTable } from './mount-table.ts';

/** What the target of a subPath mount says about itself. */
export interface SubpathTarget {
  readonly podUid: string;
  /** The inner name of the volume: for a claim, the name of the persistent volume. */
  readonly volume: string;
  readonly container: string;
  /** Position among the container's volumeMounts. */
  readonly index: number;
}

/** Volumes that the kubelet writes anew from an API object whenever it likes. */
const REGENERABLE = ['configmap', 'secret', 'projected', 'downward-api'] as const;

export type SubpathSource =
  | { readonly regenerable: true; readonly kind: (typeof REGENERABLE)[number] }
  | { readonly regenerable: false; readonly kind: string };

// /var/lib/kubelet/pods/6f1c2a9e-.../volume-subpaths/settings/web/1
const BELOW_ROOT = /^\/pods\/([^/]+)\/volume-subpaths\/([^/]+)\/([^/]+)\/(\d+)$/;

/** Reads the target of a mount as the kubelet names its subPath mounts; undefined for any other. */
export function subpathTarget(target: string, kubeletRoot: string): SubpathTarget | undefined {
  if (!target.startsWith(`${kubeletRoot}/pods/`)) return undefined;
  const [, podUid, volume, container, index] =
    BELOW_ROOT.exec(target.slice(kubeletRoot.length)) ?? [];
  if (!podUid || !volume || !container || !index) return undefined;
  return { podUid, volume, container, index: Number(index) };
}

/** Of what kind of volume a subPath mount shows a part. */
export function subpathSource(mount: Mount, table: MountTable, kubeletRoot: string): SubpathSource {
  const target = subpathTarget(mount.target, kubeletRoot);
  const kind =
    target && REGENERABLE.find((plugin) => isPayload(mount, table, kubeletRoot, target, plugin));
  return kind ? { regenerable: true, kind } : { regenerable: false, kind: pluginIn(mount.root) };
}

// ..2021_06_02_06_01_21.244319292/nginx.log
const PAYLOAD = /^\.\.\d{4}(?:_\d\d){5}\.\d+\/./;

/** Whether the mount's root lies in a payload folder, as the kubelet's atomic writer makes them. */
function isPayload(
  mount: Mount,
  table: MountTable,
  kubeletRoot: string,
  { podUid, volume }: SubpathTarget,
  plugin: string,
): boolean {
  const below = `/pods/${podUid}/volumes/kubernetes.io~${plugin}/${volume}`;
  const folder = `${kubeletRoot}${below}`;
  const holder = mountHolding(folder, table);
  if (!holder) return PAYLOAD.test(restAfter(mount.root, below));
  if (holder.device !== mount.device) return false;
  // Where that folder lies inside the filesystem: the only place its payload can come from.
  const inside = join(holder.root, folder.slice(holder.target === '/' ? 0 : holder.target.length));
  return mount.root.startsWith(`${inside}/`) && PAYLOAD.test(mount.root.slice(inside.length + 1));
}

/** The mount on which a path lies: the longest target that holds it, the last where they stack. */
function mountHolding(path: string, { mounts }: MountTable): Mount | undefined {
  let best: Mount | undefined;
  for (const mount of mounts) {
    if (mount.target.length < (best?.target.length ?? 0)) continue;
    const holds =
      mount.target === '/' || path === mount.target || path.startsWith(`${mount.target}/`);
    if (holds) best = mount;
  }
  return best;
}

/**
 * For a table that does not show the filesystem's own mount (a kubelet in a chroot, a sample): the
 * part after the volume's folder, unless the folder lies within another volume and may be a forgery.
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
function pluginIn(root: string): string {
  return /\/volumes\/[^/]*~([^/]+)\//.exec(`${root}/`)?.[1] ?? 'unknown';
}
