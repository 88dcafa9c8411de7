import { join } from 'node:path';
import type { SharedCluster } from './shared-cluster.ts';

const DEPLOY = join(import.meta.dirname, '../../deploy');
const CRDS = `--filename=${join(DEPLOY, 'crds')}`;
const AGENTS = `--filename=${join(DEPLOY, 'kubediag.yaml')}`;
const SOON = '--timeout=90s';

type WithKubectl = Pick<SharedCluster, 'kubectl'>;

/** Installs KubeDiag as a person would, and waits until the agent of each node is ready. */
export async function install(cluster: WithKubectl): Promise<void> {
  await cluster.kubectl('apply', '--server-side', CRDS);
  await cluster.kubectl('wait', '--for=condition=Established', CRDS, SOON);
  await cluster.kubectl('apply', AGENTS);
  await cluster.kubectl('rollout', 'status', 'daemonset/kubediag-agent', '-n=kubediag', SOON);
}

/** Removes it, if it is there, but for its namespace: that goes when its pods are gone. */
export async function uninstall(cluster: WithKubectl): Promise<void> {
  const installed = await cluster.kubectl('get', 'namespace,crd', '--output=name');
  const remove = (...args: readonly string[]) =>
    cluster.kubectl('delete', '--ignore-not-found', ...args);
  if (installed.includes('namespace/kubediag\n')) await remove(AGENTS, '--wait=false');
  if (installed.includes('.diagnosis.kubediag.org\n')) await remove(CRDS, SOON);
}

export async function waitUntilUninstalled(cluster: WithKubectl): Promise<void> {
  await cluster.kubectl('wait', '--for=delete', 'namespace/kubediag', SOON);
}
