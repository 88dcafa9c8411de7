import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { KUBEDIAG_IMAGE } from '../../tools/image/kubediag-image.ts';
import { observedPolicy, recoveryPolicy, slotLeases } from '../recovery-objects.ts';
import type { SharedCluster } from './shared-cluster.ts';

const ROOT = join(import.meta.dirname, '../..');
const CRDS = `--filename=${join(ROOT, 'deploy/crds')}`;
const AGENTS = `--filename=${join(ROOT, 'deploy/kubediag.yaml')}`;
const SOON = '--timeout=90s';

/** Nodes of a test that may be in recovery at once. */
const SLOTS = 3;

type WithKubectl = Pick<SharedCluster, 'kubectl'>;

// ```
// kubectl apply -f deploy/crds
// sed 's|registry.example/kubediag:0.1.0|IMAGE|' deploy/kubediag.yaml | kubectl apply -f -
// ```
const COMMANDS = /^```\n(kubectl apply -f deploy\/crds.+?)```$/ms;

/** Installs KubeDiag by the commands of docs/install.md, permits repairs, and waits until the agent of each node is ready. */
export async function install(
  cluster: Pick<SharedCluster, 'apply' | 'kubectl' | 'run'>,
): Promise<void> {
  const script = await installationScript();
  const { code, stderr } = await cluster.run(['sh', '-ec', script, 'sh', ROOT]);
  if (code !== 0) throw new Error(`the commands of docs/install.md failed: ${stderr.trim()}`);
  await permitRecovery(cluster);
  await cluster.kubectl('rollout', 'status', 'daemonset/kubediag-agent', '-n=kubediag', SOON);
}

/** Writes what a controller writes: without it no agent repairs. */
export async function permitRecovery(
  cluster: Pick<SharedCluster, 'apply' | 'kubectl'>,
): Promise<void> {
  await cluster.apply(recoveryPolicy({ maxConcurrentNodes: SLOTS }), ...slotLeases(SLOTS));
  const generation = Number(
    await cluster.kubectl(
      ...['get', 'recoverypolicy', 'default', '--output=jsonpath={.metadata.generation}'],
    ),
  );
  const patch = JSON.stringify({ status: observedPolicy(SLOTS, generation) });
  await cluster.kubectl(
    ...['patch', 'recoverypolicy', 'default', '--subresource=status', '--type=merge'],
    `--patch=${patch}`,
  );
}

/** As that page says for an API server before v1.32: kubectl fails because of the policies, and installs the rest. */
export async function installOnOlderServer(
  cluster: Pick<SharedCluster, 'kubectl' | 'run'>,
): Promise<void> {
  const script = await installationScript();
  const warned = script.replaceAll('kubectl apply', 'kubectl apply --validate=warn');
  const { code, stderr } = await cluster.run(['sh', '-c', warned, 'sh', ROOT]);
  if (code !== 1) throw new Error(`kubectl ended with ${code}: ${stderr}`);
  await cluster.kubectl('rollout', 'status', 'daemonset/kubediag-agent', '-n=kubediag', SOON);
}

async function installationScript(): Promise<string> {
  const page = await readFile(join(ROOT, 'docs/install.md'), 'utf8');
  const [, commands] = COMMANDS.exec(page) ?? [];
  if (commands === undefined) throw new Error('docs/install.md: no commands that install KubeDiag');
  return `cd "$1"\n${commands.replace('|IMAGE|', `|${KUBEDIAG_IMAGE}|`)}`;
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
