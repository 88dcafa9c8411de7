import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { PLACES } from '../../lab/places.ts';
import { writeKernelSettings } from '../../lab/real-kubelet/kernel-settings.ts';
import { containerdConfig } from '../../lab/runtime/containerd-config.ts';
import { BUSYBOX_IMAGE, busyboxImage } from '../../test/rig/busybox-image.ts';
import type { PrivateNamespaces } from '../../test/rig/private-namespaces.ts';
import type { UnpackedPackages } from '../debian-packages.ts';
import type { Binaries } from './binaries.ts';
import { makeCertificates } from './certificates.ts';
import { makeCgroup } from './cgroup.ts';
import { POD_IMAGE, type RunningCluster } from './cluster.ts';
import { writeKubeconfig } from './kubeconfig.ts';
import { clusterKubelet } from './kubelet-config.ts';
import { MAKE_NETWORK, POD_NETWORK } from './network.ts';
import { type PartsOptions, proxyConfig } from './parts.ts';

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

export interface NodeSetup {
  readonly options: PartsOptions;
  /** What a part finds programs and libraries by. */
  readonly environment: NodeJS.ProcessEnv;
  readonly kubeconfig: string;
  readonly logs: string;
  /** A directory with kubectl and kubelet, for people. */
  readonly programs: string;
}

/** Makes of empty namespaces a node on which every part finds what it needs; starts nothing yet. */
export async function setUpNode(ingredients: {
  readonly nodeName: string;
  readonly scratch: string;
  readonly cgroup: string;
  readonly binaries: Binaries;
  readonly packages: UnpackedPackages;
  readonly namespaces: PrivateNamespaces;
}): Promise<NodeSetup> {
  const { nodeName, scratch, cgroup, binaries, packages, namespaces } = ingredients;
  const at = (folder: string) => join(scratch, folder);
  for (const folder of ['var-lib', 'var-log', 'kubernetes', 'logs', 'programs', 'tools']) {
    await mkdir(at(folder));
  }
  for (const program of ['kubectl', 'kubelet'] as const) {
    await symlink(binaries[program], at(`programs/${program}`));
  }
  await writeKernelSettings(at('kernel-settings'));
  const environment = await machineModule(at('tools'), packages);
  const [containerdCgroup, { files, certificates, kubeletFlags, kubeconfig }] = await Promise.all([
    makeCgroup(cgroup),
    writeSettings(at('kubernetes'), nodeName, binaries.kubeletVersion, packages),
    setUpContainerd(at('var-lib'), packages),
    namespaces.run('sh', '-c', COVER, 'sh', scratch, nodeName),
    namespaces.run('env', ...asWords(environment), 'sh', '-c', MAKE_NETWORK),
  ]);
  await writeFile(files.containerd, containerdSettings(packages));
  return {
    options: {
      nodeName,
      binaries,
      certificates,
      files,
      kubeletFlags,
      containerdCgroup,
      packages: packages.root,
    },
    environment,
    kubeconfig,
    logs: at('logs'),
    programs: at('programs'),
  };
}

function asWords(environment: NodeJS.ProcessEnv): readonly string[] {
  return Object.entries(environment).map(([name, value = '']) => `${name}=${value}`);
}

/** Debian's iptables gets its plain names only when it is installed. */
async function machineModule(
  tools: string,
  { root, environment }: UnpackedPackages,
): Promise<NodeJS.ProcessEnv> {
  const [libraryFolder = ''] = environment.LD_LIBRARY_PATH.split(delimiter).toReversed();
  for (const tool of ['iptables', 'ip6tables']) {
    for (const name of [tool, `${tool}-save`, `${tool}-restore`]) {
      await symlink(join(root, 'usr/sbin/xtables-nft-multi'), join(tools, name));
    }
  }
  return {
    ...process.env,
    ...environment,
    PATH: [tools, environment.PATH].join(delimiter),
    XTABLES_LIBDIR: join(libraryFolder, 'xtables'),
  };
}

async function setUpContainerd(varLib: string, { root }: UnpackedPackages): Promise<void> {
  const network = join(varLib, 'containerd/cni/conf');
  await mkdir(network, { recursive: true });
  await writeFile(join(network, '10-pods.conflist'), JSON.stringify(POD_NETWORK));
  await symlink(join(root, 'usr/lib/cni'), join(varLib, 'containerd/cni/bin'));
}

function containerdSettings({ root }: UnpackedPackages): string {
  return containerdConfig({
    home: CONTAINERD_HOME,
    socket: PLACES.runtimeSocket,
    runc: join(root, 'usr/sbin/runc'),
    sandboxImage: BUSYBOX_IMAGE,
  });
}

async function writeSettings(
  folder: string,
  name: string,
  kubeletVersion: string,
  packages: UnpackedPackages,
): Promise<Pick<PartsOptions, 'files' | 'certificates' | 'kubeletFlags'> & { kubeconfig: string }> {
  const at = (file: string) => join(folder, file);
  const certificates = await makeCertificates(folder, name, packages);
  const { controllerManager, scheduler, proxy, kubelet, administrator } = certificates;
  const config = (file: string, identity: typeof proxy) =>
    writeKubeconfig(at(file), certificates, identity);
  const files = {
    containerd: at('containerd.toml'),
    controllerManager: await config('controller-manager.conf', controllerManager),
    scheduler: await config('scheduler.conf', scheduler),
    proxyKubeconfig: await config('proxy.conf', proxy),
    proxyConfig: at('proxy.json'),
    kubeletKubeconfig: await config('kubelet.conf', kubelet),
    kubeletConfig: at('kubelet.json'),
  };
  const { config: kubeletConfig, flags } = clusterKubelet(kubeletVersion, certificates);
  await writeFile(files.kubeletConfig, JSON.stringify(kubeletConfig, null, 2));
  const proxyArguments = proxyConfig(name, files.proxyKubeconfig);
  await writeFile(files.proxyConfig, JSON.stringify(proxyArguments, null, 2));
  const kubeconfig = await config('admin.conf', administrator);
  return { files, certificates, kubeletFlags: flags, kubeconfig };
}

/** Nothing is pulled: pods and their sandboxes run from what is imported here. */
export async function importImage(
  cluster: RunningCluster,
  { root, environment }: UnpackedPackages,
): Promise<boolean> {
  const archive = join(cluster.scratch, 'busybox.tar');
  await writeFile(archive, await busyboxImage(join(root, 'bin/busybox')));
  const ctr = [
    join(root, 'usr/bin/ctr'),
    '--address',
    PLACES.runtimeSocket,
    '-n',
    'k8s.io',
    'images',
  ];
  const options = { environment };
  const imported = await cluster.run(
    [...ctr, 'import', '--snapshotter', 'native', archive],
    options,
  );
  if (imported.code !== 0) return false;
  return (await cluster.run([...ctr, 'tag', BUSYBOX_IMAGE, POD_IMAGE], options)).code === 0;
}
