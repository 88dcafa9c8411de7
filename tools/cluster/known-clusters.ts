import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { removeCgroupTree } from '../../lab/cgroups.ts';
import { type Claim, claimNow } from '../../lab/claim.ts';
import { killIfThere } from '../../lab/process-mark.ts';
import { endNamespaces, enteringInto } from '../../test/rig/private-namespaces.ts';
import { cacheFolder } from '../cache-folder.ts';
import type { Cluster } from './cluster.ts';
import type { Part } from './part.ts';
import { cgroupOf } from './start-cluster.ts';

const STOP_MS = 20_000;
const LAST_TRY_MS = 5_000;
const CHECK_INTERVAL_MS = 50;
const STATE_FILE = 'cluster.json';

// default, old-kubelet
const NAME = /^[a-z0-9]([a-z0-9-]{0,18}[a-z0-9])?$/;

/** A process, distinguished from a later one with the same pid. */
interface ProcessMark {
  readonly pid: number;
  /** Start time since the machine booted, and that boot. */
  readonly born: string;
}

/** What is written down about a cluster that `up` started. */
export interface KnownCluster {
  readonly name: string;
  /** Of its supervisor. */
  readonly supervisor: ProcessMark;
  /** Once it is ready. */
  readonly ready?: {
    readonly kubeconfig: string;
    readonly logs: string;
    readonly images: readonly string[];
    /** Of the control plane and of the first node. */
    readonly parts: Readonly<Record<string, ProcessMark>>;
    readonly nodes: readonly KnownNode[];
  };
}

export interface KnownNode {
  readonly name: string;
  readonly kubeletVersion: string;
  /** The first process inside. */
  readonly first: ProcessMark;
  /** The words that stand before a command to run it inside. */
  readonly enter: readonly string[];
  readonly programs: string;
  readonly parts: Readonly<Record<string, ProcessMark>>;
}

export function isName(name: string): boolean {
  return NAME.test(name);
}

/** The directory of a cluster, beside the caches: what is in it belongs to the user alone. */
export function folderOf(name: string): string {
  return join(clustersFolder(), name);
}

/** State and log are beside the cluster's own directory, which goes when it stops. */
function stateFile(name: string): string {
  return join(clustersFolder(), `${name}.${STATE_FILE}`);
}

export function logFile(name: string): string {
  return join(clustersFolder(), `${name}.log`);
}

function clustersFolder(): string {
  return join(dirname(cacheFolder('')), 'clusters');
}

/** Takes a name for as long as this process lives; of two that want it one gets nothing. */
export function claim(name: string): Promise<Claim | undefined> {
  return claimNow('cluster', stateFile(name));
}

export async function write(cluster: KnownCluster): Promise<void> {
  const file = stateFile(cluster.name);
  const work = `${file}.${process.pid}`;
  await mkdir(clustersFolder(), { recursive: true, mode: 0o700 });
  await writeFile(work, JSON.stringify(cluster, null, 2), { mode: 0o600 });
  await rename(work, file);
}

/** Once it runs: from then on `run` and `status` know it. This process is its supervisor. */
export async function writeReady(cluster: Cluster): Promise<void> {
  const { name, kubeconfig, logs, images, parts, nodes } = cluster;
  const ready = {
    kubeconfig,
    logs,
    images,
    parts: marksOf(parts),
    nodes: nodes.map((node) => ({
      name: node.name,
      kubeletVersion: node.kubeletVersion,
      first: markOf(node.pid),
      enter: node.enter,
      programs: node.programs,
      parts: marksOf(node.parts),
    })),
  };
  await write({ name, supervisor: markOf(process.pid), ready });
}

function marksOf(parts: Readonly<Record<string, Part>>): Readonly<Record<string, ProcessMark>> {
  const marks = Object.values(parts).map((part) => [part.name, markOf(part.pid)] as const);
  return Object.fromEntries(marks);
}

/** What is written down; of a cluster whose file cannot be read, no more than that there was one. */
export async function read(name: string): Promise<KnownCluster | undefined> {
  const file = stateFile(name);
  if (!existsSync(file)) return undefined;
  try {
    const known = JSON.parse(await readFile(file, 'utf8')) as KnownCluster | null;
    if (known?.name === name && known.supervisor.pid > 0) {
      const { supervisor, ready } = known;
      // Another version of this program may have written something else.
      return Array.isArray(ready?.nodes) ? known : { name, supervisor };
    }
  } catch {
    // Half a file, or another program's: the same as none.
  }
  return { name, supervisor: { pid: 0, born: '' } };
}

export async function names(): Promise<readonly string[]> {
  const files = await readdir(clustersFolder()).catch(() => []);
  const ending = `.${STATE_FILE}`;
  return files.flatMap((file) => (file.endsWith(ending) ? [file.slice(0, -ending.length)] : []));
}

export function markOf(pid: number): ProcessMark {
  return { pid, born: bornOf(pid) ?? '' };
}

export function isAlive({ pid, born }: ProcessMark): boolean {
  return born !== '' && bornOf(pid) === born;
}

function bornOf(pid: number): string | undefined {
  const file = `/proc/${pid}/stat`;
  if (!existsSync(file)) return undefined;
  // 812 (node) S 1 812 812 0 -1 4194560 ...: the name may hold anything, the numbers follow it.
  const fields = readFileSync(file, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  if (fields[0] === 'Z') return undefined;
  return `${fields[19]} ${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}`;
}

/**
 * Ends a cluster, whatever is left of it: first its supervisor is asked, and what that did
 * not do, or was killed before it could, is done here. Rejects, and forgets nothing, when something
 * cannot be ended.
 */
export async function takeDown(name: string): Promise<void> {
  const known = await read(name);
  const isStored = known !== undefined && isAlive(known.supervisor);
  if (isStored) {
    process.kill(known.supervisor.pid, 'SIGTERM');
    const deadline = Date.now() + STOP_MS;
    while (isAlive(known.supervisor) && Date.now() < deadline) await sleep(CHECK_INTERVAL_MS);
    if (isAlive(known.supervisor)) killIfThere(known.supervisor.pid);
  }
  // Its supervisor has waited long enough for what does not end.
  const limitMs = isStored ? LAST_TRY_MS : STOP_MS;
  for (const pid of await firstProcesses(name, known)) await endNamespaces(pid, limitMs);
  await removeCgroupTree(cgroupOf(folderOf(name)));
  await rm(folderOf(name), { recursive: true, force: true });
  for (const file of [stateFile(name), logFile(name)]) {
    await rm(file, { recursive: true, force: true });
  }
}

/**
 * The first processes of its nodes: those that were written down, and, as a start that was killed
 * writes nothing, those that a part was started into.
 */
async function firstProcesses(
  name: string,
  known: KnownCluster | undefined,
): Promise<ReadonlySet<number>> {
  const folder = `${folderOf(name)}/`;
  const parts = await enteringInto((_, commandLine) => commandLine.includes(folder));
  const targets = parts.map(({ target }) => target).filter(isShell);
  const written = known?.ready?.nodes.map(({ first }) => first).filter(isAlive) ?? [];
  return new Set([...written.map(({ pid }) => pid), ...targets]);
}

function isShell(pid: number): boolean {
  const file = `/proc/${pid}/comm`;
  return existsSync(file) && readFileSync(file, 'utf8') === 'sh\n';
}
