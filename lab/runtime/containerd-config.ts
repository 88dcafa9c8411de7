import { join } from 'node:path';

export interface ContainerdPlaces {
  readonly home: string;
  /** The state directory, if it is not below the root directory. */
  readonly state?: string;
  readonly socket: string;
  readonly runc: string;
  /** The pause image, which holds the namespaces of a pod. */
  readonly sandboxImage: string;
}

/**
 * Everything is below one directory. The native snapshotter copies instead of stacking, so that the
 * directory may be on any filesystem. Without CAP_SYS_RESOURCE oom_score_adj cannot be lowered.
 * The caller configures a network for pods in the directories below "cni".
 */
export function containerdConfig(places: ContainerdPlaces): string {
  const { home, state = join(home, 'state'), socket, runc, sandboxImage } = places;
  const at = (name: string) => JSON.stringify(join(home, name));
  return `version = 2
root = ${at('root')}
state = ${JSON.stringify(state)}
disabled_plugins = [
  "io.containerd.snapshotter.v1.aufs",
  "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.snapshotter.v1.zfs",
]
[grpc]
  address = ${JSON.stringify(socket)}
[ttrpc]
  address = ${at('t.sock')}
[debug]
  address = ${at('d.sock')}
[plugins."io.containerd.internal.v1.opt"]
  path = ${at('opt')}
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = ${JSON.stringify(sandboxImage)}
  restrict_oom_score_adj = true
  disable_apparmor = true
  disable_hugetlb_controller = true
  tolerate_missing_hugetlb_controller = true
[plugins."io.containerd.grpc.v1.cri".cni]
  bin_dir = ${at('cni/bin')}
  conf_dir = ${at('cni/conf')}
[plugins."io.containerd.grpc.v1.cri".containerd]
  snapshotter = "native"
  default_runtime_name = "runc"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
  BinaryName = ${JSON.stringify(runc)}
  Root = ${at('runc')}
`;
}
