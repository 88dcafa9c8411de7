import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PLACES } from '../../lab/places.ts';
import { writeKernelSettings } from '../../lab/real-kubelet/kernel-settings.ts';
import { containerdConfig } from '../../lab/runtime/containerd-config.ts';
import { BUSYBOX_IMAGE } from '../../test/rig/busybox-image.ts';
import type { PrivateNamespaces } from '../../test/rig/private-namespaces.ts';
import type { UnpackedPackages } from '../debian-packages.ts';
import type { Binaries } from './binaries.ts';
import { makeCgroup } from './cgroup.ts';
import { writeKubeconfig } from './kubeconfig.ts';
import { clusterKubelet } from './kubelet-config.ts';
import { podNetwork } from './network.ts';
import { type NodePartsOptions, proxyConfig } from './parts.ts';
import type { ClusterSetup } from './set-up-cluster.ts';

const CONTAINERD_HOME = '/var/lib/containerd';

// As on any machine that systemd started, mounts propagate to every copy of the table.
// Not before the two directories are there: else what is mounted in them would show in ours as well.
// What the kubelet would set for the whole machine is covered too.
// The kubelet is found where a distribution would put it, beside what the machine has there.
const COVER = `set -e
mount --bind "$1/var-lib" /var/lib
mount --bind "$1/var-log" /var/log
mount -t overlay -o "lowerdir=$1/programs:/usr/local/bin" programs /usr/local/bin
for file in "$1"/kernel-settings/*; do
  mount --bind "$file" "/proc/sys/$(basename "$file" | tr . /)"
done
mount --make-rshared /
mkdir -p /run/containerd
echo "$2" >/proc/sys/kernel/hostname`;

export interface NodeIngredients {
  readonly name: string;
  readonly index: number;
  /** A directory for the files of the node; it does not exist yet. */
  readonly folder: string;
  /** Of the cluster. */
  readonly cgroup: string;
  readonly binaries: Binaries;
  readonly packages: UnpackedPackages;
  readonly namespaces: PrivateNamespaces;
  readonly setup: ClusterSetup;
}

export interface NodeSetup {
  readonly options: NodePartsOptions;
  /** A directory with kubectl and kubelet, for people. */
  readonly programs: string;
}

/** Makes of empty namespaces a node on which every part finds what it needs; starts nothing yet. */
export async function setUpNode(ingredients: NodeIngredients): Promise<NodeSetup> {
  const { name, index, folder, cgroup, binaries, packages, namespaces } = ingredients;
  const at = (path: string) => join(folder, path);
  await mkdir(folder);
  for (const child of ['var-lib', 'var-log', 'programs']) await mkdir(at(child));
  for (const program of ['kubectl', 'kubelet'] as const) {
    await symlink(binaries[program], at(`programs/${program}`));
  }
  await writeKernelSettings(at('kernel-settings'));
  const [containerdCgroup, { files, kubeletFlags }] = await Promise.all([
    makeCgroup(cgroup, name),
    writeSettings(ingredients),
    writePodNetwork(at('var-lib'), index, packages),
    namespaces.run('sh', '-c', COVER, 'sh', folder, name),
  ]);
  return {
    options: {
      name,
      index,
      binaries,
      files,
      kubeletFlags,
      containerdCgroup,
      packages: packages.root,
    },
    programs: at('programs'),
  };
}

async function writePodNetwork(
  varLib: string,
  index: number,
  { root }: UnpackedPackages,
): Promise<void> {
  const network = join(varLib, 'containerd/cni/conf');
  await mkdir(network, { recursive: true });
  await writeFile(join(network, '10-pods.conflist'), JSON.stringify(podNetwork(index)));
  await symlink(join(root, 'usr/lib/cni'), join(varLib, 'containerd/cni/bin'));
}

async function writeSettings(
  ingredients: NodeIngredients,
): Promise<Pick<NodePartsOptions, 'files' | 'kubeletFlags'>> {
  const { name, index, folder, binaries, packages } = ingredients;
  const { certificates, proxyKubeconfig } = ingredients.setup;
  const kubelet = certificates.kubelets[index];
  if (!kubelet) throw new Error(`node ${name} has no certificate`);
  const at = (file: string) => join(folder, file);
  const files = {
    containerd: at('containerd.toml'),
    proxyConfig: at('proxy.json'),
    kubeletKubeconfig: await writeKubeconfig(at('kubelet.conf'), certificates, kubelet),
    kubeletConfig: at('kubelet.json'),
  };
  const { authority } = certificates;
  const { config, flags } = clusterKubelet(binaries.kubeletVersion, { authority, kubelet });
  await writeFile(files.kubeletConfig, JSON.stringify(config, null, 2));
  const proxy = proxyConfig(name, proxyKubeconfig);
  await writeFile(files.proxyConfig, JSON.stringify(proxy, null, 2));
  await writeFile(files.containerd, containerdSettings(packages));
  return { files, kubeletFlags: flags };
}

function containerdSettings({ root }: UnpackedPackages): string {
  return containerdConfig({
    home: CONTAINERD_HOME,
    socket: PLACES.runtimeSocket,
    runc: join(root, 'usr/sbin/runc'),
    sandboxImage: BUSYBOX_IMAGE,
  });
}
