import { cp, mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { KUBEDIAG_IMAGE } from '../../tools/image/kubediag-image.ts';
import type { SharedCluster } from './shared-cluster.ts';

const ROOT = join(import.meta.dirname, '../..');
const CRDS = `--filename=${join(ROOT, 'deploy/crds')}`;
const MANIFEST = `--filename=${join(ROOT, 'deploy/kubediag.yaml')}`;
const SOON = '--timeout=90s';
/** Of the longest commands of a page, which have limits of their own. */
const COMMANDS_MS = 300_000;

/** Nodes of a test that may be in recovery at once. */
const SLOTS = 3;

const INSTALL_PAGE = 'docs/install-cluster.md';
export const REMOVAL_PAGE = 'docs/removal.md';
const APPLY = 'kubectl apply -f deploy/kubediag.yaml';

type WithKubectl = Pick<SharedCluster, 'kubectl'>;
type WithCommands = Pick<SharedCluster, 'run' | 'scratch'>;

/** Installs KubeDiag by the commands of its page, and permits repairs on several nodes. */
export async function install(cluster: WithCommands & WithKubectl): Promise<void> {
  await expectCommands(cluster, INSTALL_PAGE, await installCommands());
  await cluster.kubectl('wait', '--for=create', 'recoverypolicy/default', SOON);
  await cluster.kubectl(
    ...['patch', 'recoverypolicy', 'default', '--type=merge'],
    `--patch={"spec":{"maxConcurrentNodes":${SLOTS}}}`,
  );
  const policy = ['recoverypolicy/default', SOON];
  await cluster.kubectl('wait', `--for=jsonpath={.status.slots}=${SLOTS}`, ...policy);
  await cluster.kubectl('wait', '--for=condition=RightsEnforced', ...policy);
}

/** As the page says for an API server before v1.32: kubectl fails because of the policies, and installs the rest. */
export async function installOnOlderServer(cluster: WithCommands): Promise<void> {
  const older = await commandsOf(INSTALL_PAGE, 'kubectl apply --validate=warn');
  const commands = await installCommands();
  const script = commands.replace(APPLY, `code=0; ${older.trim()} || code=$?; [ "$code" = 1 ]`);
  await expectCommands(cluster, INSTALL_PAGE, script);
}

/** The commands that install KubeDiag, with the image of the test clusters. */
export async function installCommands(): Promise<string> {
  const commands = await commandsOf(INSTALL_PAGE, 'sed -i');
  return commands.replace('|IMAGE|', `|${KUBEDIAG_IMAGE}|`);
}

/** The two steps that remove KubeDiag. */
export async function removalSteps(): Promise<readonly string[]> {
  const begins = ['kubectl delete daemonset', 'kubectl delete -f deploy/controller-steps.yaml'];
  return Promise.all(begins.map((begin) => commandsOf(REMOVAL_PAGE, begin)));
}

/** The block of commands on a page that begins like this. */
export async function commandsOf(page: string, begin: string): Promise<string> {
  const text = await readFile(join(ROOT, page), 'utf8');
  // Also those with a language, so that the end of one is not the begin of another.
  const blocks = [...text.matchAll(/^```\w*\n(.*?)^```$/gms)].map(([, block = '']) => block);
  const found = blocks.filter((block) => block.startsWith(begin));
  if (found.length !== 1) {
    throw new Error(`${page}: ${found.length} blocks of commands begin with "${begin}"`);
  }
  return found[0] ?? '';
}

/** Every command of kubectl on a page: its blocks, and those within a sentence. */
export async function allCommandsOf(page: string): Promise<readonly string[]> {
  const text = await readFile(join(ROOT, page), 'utf8');
  return [...text.matchAll(/^```\n(kubectl .*?)^```$|`(kubectl [^`]+)`/gms)].map(
    ([, block, inline]) => block ?? inline ?? '',
  );
}

/** Runs the commands of a page in a copy of what they need of the repository: they may change it. */
export async function runCommands(cluster: WithCommands, script: string) {
  const folder = join(cluster.scratch, 'repository');
  await mkdir(folder, { recursive: true });
  await cp(join(ROOT, 'deploy'), join(folder, 'deploy'), { recursive: true });
  try {
    const command = ['sh', '-ec', `cd "$1"\n${script}`, 'sh', folder];
    return await cluster.run(command, { limitMs: COMMANDS_MS });
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function expectCommands(cluster: WithCommands, page: string, script: string): Promise<void> {
  const { code, stderr } = await runCommands(cluster, script);
  if (code !== 0) throw new Error(`the commands of ${page} failed: ${stderr.trim()}`);
}

/**
 * Removes what there is of it, on a cluster in any state, but for its namespace: that goes when its pods are gone.
 * Conditions of nodes stay: the controller does not remove them first.
 */
export async function uninstall(cluster: WithKubectl): Promise<void> {
  const installed = await cluster.kubectl('get', 'namespace,crd', '--output=name');
  if (!/namespace\/kubediag\n|[.]diagnosis[.]kubediag[.]org\n/.test(installed)) return;
  const remove = (...args: readonly string[]) =>
    cluster.kubectl('delete', '--ignore-not-found', ...args);
  await remove(MANIFEST, '--wait=false');
  await remove(CRDS, SOON);
}

export async function waitUntilUninstalled(cluster: WithKubectl): Promise<void> {
  await cluster.kubectl('wait', '--for=delete', 'namespace/kubediag', SOON);
}
