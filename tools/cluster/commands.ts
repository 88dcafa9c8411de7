import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { childOf, killIfThere } from '../../lab/process-mark.ts';
import { findBinariesOfAll } from './binaries.ts';
import { builtExecutable, importImages, writeImages } from './import-images.ts';
import {
  claim,
  folderOf,
  isAlive,
  type KnownCluster,
  type KnownNode,
  logFile,
  markOf,
  names,
  read,
  takeDown,
  write,
} from './known-clusters.ts';
import { inThisFolder, personsEnvironment, type RunOptions, runOnNode } from './node.ts';
import { nodePackages } from './node-packages.ts';

const CHECK_INTERVAL_MS = 100;
/** What a shell says of a command that a signal ended, plus the number of the signal. */
const ENDED_BY_SIGNAL = 128;
const INTERRUPTED = ENDED_BY_SIGNAL + constants.signals.SIGINT;
const LOG_LINES = 20;

/**
 * Between us and a person's command stands the program that enters. It ends with us, however we end,
 * and the command with it; and it leaves Ctrl-C to the command.
 */
const ENDS_WITH_PARENT = ['setpriv', '--pdeathsig', 'KILL'];
const BEFORE_ENTERING = ['--ignore-signal=INT', ...ENDS_WITH_PARENT];
const INSIDE = [...ENDS_WITH_PARENT, 'env', '--default-signal=INT'];

interface ClusterCommandOptions {
  /** Of each node: a version that can be built, or a path. */
  readonly kubelets: readonly string[];
  /** Version of all programs but kubectl, one that can be built. */
  readonly apiServer?: string | undefined;
  readonly assets?: string | undefined;
}

/** Starts a cluster, leaves it in the background, and says how to use it. */
export async function up(name: string, options: ClusterCommandOptions): Promise<number> {
  const claimed = await claim(name);
  if (!claimed) {
    console.error(`"${name}" is being started by somebody else`);
    return 1;
  }
  try {
    return await upAlone(name, options);
  } catch (error) {
    console.error(`"${name}" is not up: ${(error as Error).message}`);
    return 1;
  } finally {
    claimed.release();
  }
}

async function upAlone(name: string, options: ClusterCommandOptions): Promise<number> {
  const known = await read(name);
  if (known && isAlive(known.supervisor)) {
    console.error(`"${name}" is there already; see status, or take another --name`);
    return 1;
  }
  const interrupted = interruption();
  // What is not built yet is built here, where the progress can be seen.
  const binaries = await findBinariesOfAll(options.kubelets, { ...options, signal: interrupted });
  if ('missing' in binaries) {
    console.error(binaries.missing);
    return interrupted.aborted ? INTERRUPTED : 1;
  }
  // A crash may have left something of the same name.
  await takeDown(name);
  await write({ name, supervisor: markOf(process.pid) });
  const started = Date.now();
  const versions = binaries.map(({ kubeletVersion }) => kubeletVersion);
  console.error(`starting a cluster with kubelet ${versions.join(', ')} ...`);
  const ready = await startSupervisor(name, options, interrupted);
  if (!ready) {
    const log = await readFile(logFile(name), 'utf8').catch(() => '');
    await takeDown(name);
    if (interrupted.aborted) return INTERRUPTED;
    console.error(`it did not start:\n${log.trimEnd().split('\n').slice(-LOG_LINES).join('\n')}`);
    return 1;
  }
  console.error(
    `${binaries.length > 1 ? 'nodes' : 'node'} ready after ${((Date.now() - started) / 1000).toFixed(1)} s`,
  );
  report(ready);
  return 0;
}

/** Imports the images again, because the executable was built again. */
export async function load(name: string): Promise<number> {
  const known = await read(name);
  if (!known?.ready || !isAlive(known.supervisor)) {
    console.error(`"${name}" is not up`);
    return 1;
  }
  const packages = await nodePackages();
  if ('missing' in packages) {
    console.error(packages.missing);
    return 1;
  }
  const { kubeconfig, nodes } = known.ready;
  const archives = await writeImages(folderOf(name), packages, builtExecutable());
  for (const node of nodes) {
    const run = (command: readonly string[], options?: RunOptions) =>
      runOnNode({ ...node, kubeconfig }, command, options);
    if (!(await importImages({ run }, archives, packages))) {
      console.error(`${node.name}: the images cannot be imported: does containerd run?`);
      return 1;
    }
  }
  console.error('The nodes have the images. Delete the pods that still run the old one.');
  return 0;
}

/** Only gets the programs. */
export async function build(options: ClusterCommandOptions): Promise<number> {
  const interrupted = interruption();
  const binaries = await findBinariesOfAll(options.kubelets, { ...options, signal: interrupted });
  console.error('missing' in binaries ? binaries.missing : 'All programs are there.');
  if (interrupted.aborted) return INTERRUPTED;
  return 'missing' in binaries ? 1 : 0;
}

/** Ctrl-C, and what a machine that shuts down sends. A second one ends us as it would anybody. */
function interruption(): AbortSignal {
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => interrupted.abort());
  return interrupted.signal;
}

async function startSupervisor(
  name: string,
  { kubelets, apiServer = '', assets = '' }: ClusterCommandOptions,
  signal: AbortSignal,
): Promise<KnownCluster | undefined> {
  const log = await open(logFile(name), 'a', 0o600);
  const script = join(import.meta.dirname, 'supervisor.ts');
  const child = spawn(process.execPath, [script, name, assets, apiServer, ...kubelets], {
    // A session of its own: what the terminal sends to us is not meant for it.
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
  });
  await Promise.all([once(child, 'spawn'), log.close()]);
  child.unref();
  const supervisor = markOf(child.pid ?? 0);
  await write({ name, supervisor });
  while (isAlive(supervisor) && !signal.aborted) {
    const known = await read(name);
    if (known?.ready) return known;
    await sleep(CHECK_INTERVAL_MS);
  }
  return undefined;
}

/** Also what a crash left of it. */
export async function down(name: string): Promise<number> {
  const known = await read(name);
  try {
    await takeDown(name);
  } catch (error) {
    console.error(`"${name}" is not down: ${(error as Error).message}`);
    return 1;
  }
  console.error(known ? `"${name}" is down` : `there was no "${name}"`);
  return 0;
}

/** Of all clusters, or of the named one. */
export async function status(only?: string): Promise<number> {
  const all = (await names()).filter((name) => only === undefined || name === only);
  if (all.length === 0) {
    const [none, option] = only ? [`no cluster "${only}"`, ` --name ${only}`] : ['no cluster', ''];
    console.log(`${none}; start one with: npm run cluster -- up${option}`);
  }
  for (const name of all) {
    const known = await read(name);
    if (known) report(known);
  }
  return 0;
}

function report({ name, supervisor, ready }: KnownCluster): void {
  const option = name === 'default' ? '' : ` --name ${name}`;
  if (!isAlive(supervisor)) {
    console.log(`${name}: crashed; clean up with: npm run cluster -- down${option}`);
    return;
  }
  if (!ready) {
    console.log(`${name}: is being started`);
    return;
  }
  const { nodes } = ready;
  const nodeOption = nodes.length > 1 ? ' [--node NODE]' : '';
  const lines = [
    `${name}: ${nodes.length === 1 ? '1 node' : `${nodes.length} nodes`}`,
    ...nodes.map((node, index) => `  ${node.name}: ${stateOf(node, index ? {} : ready.parts)}`),
    `  use it      npm run cluster -- run${option}${nodeOption} -- kubectl get pods -A`,
    `  kubeconfig  ${ready.kubeconfig} (its address is known inside only)`,
    `  images      ${ready.images.join(', ')} (nothing can be pulled)`,
    `  logs        ${ready.logs}`,
    `  end it      npm run cluster -- down${option}`,
  ];
  console.log(lines.join('\n'));
}

function stateOf({ kubeletVersion, parts }: KnownNode, more: KnownNode['parts']): string {
  const all = Object.entries({ ...more, ...parts });
  const gone = all.flatMap(([part, mark]) => (isAlive(mark) ? [] : [part]));
  return `kubelet ${kubeletVersion}, ${gone.length > 0 ? `ended: ${gone.join(', ')}` : 'all parts run'}`;
}

/** Runs a person's command on a node, on this terminal, in this directory; its exit code is ours. */
export async function runInside(
  name: string,
  nodeName: string | undefined,
  command: readonly string[],
): Promise<number> {
  const ready = (await read(name))?.ready;
  const node = ready?.nodes.find((one) => nodeName === undefined || one.name === nodeName);
  if (ready && !node) {
    const nodes = ready.nodes.map((one) => one.name).join(', ');
    console.error(`"${name}" has no node ${nodeName}: its nodes are ${nodes}`);
    return 1;
  }
  if (!node || !isAlive(node.first)) {
    console.error(`"${name}" is not up; start it with: npm run cluster -- up --name ${name}`);
    return 1;
  }
  const text = [...BEFORE_ENTERING, ...node.enter, ...INSIDE, ...inThisFolder(command)];
  const env = personsEnvironment({ programs: node.programs, kubeconfig: ready?.kubeconfig ?? '' });
  const child = spawn('env', text, { env, stdio: 'inherit' });
  // The terminal sends Ctrl-C to the command itself; we wait for its reaction.
  let interrupted = false;
  process.on('SIGINT', () => {
    interrupted = true;
  });
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => void passOn(signal, child));
  }
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  // A program that enters and ignores Ctrl-C reports 1 for a command that was ended by it.
  if (interrupted && code === 1) return INTERRUPTED;
  return code ?? ENDED_BY_SIGNAL + (signal ? constants.signals[signal] : 0);
}

/** To the command itself: the program that entered for it would end and leave it behind. */
async function passOn(signal: NodeJS.Signals, entering: ChildProcess): Promise<void> {
  const command = await childOf(entering.pid ?? 0).catch(() => undefined);
  if (command) killIfThere(command, signal);
  else entering.kill(signal);
}
