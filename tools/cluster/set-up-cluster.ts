import { mkdir, symlink } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { UnpackedPackages } from '../debian-packages.ts';
import { type Certificates, makeCertificates } from './certificates.ts';
import { writeKubeconfig } from './kubeconfig.ts';
import type { ControlPlaneOptions } from './parts.ts';

export interface ClusterSetup {
  readonly certificates: Certificates;
  readonly files: ControlPlaneOptions['files'];
  /** Of the administrator. */
  readonly kubeconfig: string;
  readonly proxyKubeconfig: string;
  /** What a part finds programs and libraries by. */
  readonly environment: NodeJS.ProcessEnv;
  readonly logs: string;
}

/** Writes what the nodes have in common; starts nothing yet. */
export async function setUpCluster(
  scratch: string,
  nodeNames: readonly string[],
  packages: UnpackedPackages,
): Promise<ClusterSetup> {
  const at = (folder: string) => join(scratch, folder);
  for (const folder of ['kubernetes', 'logs', 'nodes', 'tools']) await mkdir(at(folder));
  const certificates = await makeCertificates(at('kubernetes'), nodeNames, packages);
  const { controllerManager, scheduler, proxy, administrator } = certificates;
  const config = (file: string, identity: typeof proxy) =>
    writeKubeconfig(join(at('kubernetes'), file), certificates, identity);
  return {
    certificates,
    files: {
      controllerManager: await config('controller-manager.conf', controllerManager),
      scheduler: await config('scheduler.conf', scheduler),
    },
    kubeconfig: await config('admin.conf', administrator),
    proxyKubeconfig: await config('proxy.conf', proxy),
    environment: await partEnvironment(at('tools'), packages),
    logs: at('logs'),
  };
}

/** Debian's iptables gets its plain names only when it is installed. */
async function partEnvironment(
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
