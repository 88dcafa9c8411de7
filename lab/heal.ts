import {
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { defined } from '../src/lib/std/defined.ts';
import { labCgroup, removeCgroupTree } from './cgroups.ts';
import { without } from './exam/compare.ts';
import { CHECK_INTERVAL_MS, END_MS } from './limits.ts';
import { mountPoints } from './mount-tables.ts';
import { PLACES } from './places.ts';
import type { PracticeNode } from './practice-node.ts';
import { OWN_FOLDERS } from './private-root.ts';
import { allProcesses, killIfThere, procFile } from './process-mark.ts';
import { type RunningAgent, runningAgents } from './running-agents.ts';
import { setUp } from './set-up.ts';
import { unlessGone } from './unless-gone.ts';

/** Directories that a running node writes. Each is a separate filesystem, empty at first. */
export const WRITTEN = [...OWN_FOLDERS, '/run', '/tmp'];

/** The pod cgroup of a real kubelet; the stand-in and the breaks use the cgroup of the lab. */
const KUBELETS_CGROUP = '/kubepods';

/** Differing mounts in the error message. */
const REPORTED_MAX = 10;

const BASELINE_FILE = join(PLACES.lab, 'baseline.json');
/** Files about the lab itself and its initial state. */
const RETAINED = [PLACES.settings, BASELINE_FILE];

/** The state of a practice node before anything runs on it. `lab heal` restores it. */
interface Baseline {
  /** In the order of the mount table. */
  readonly mountPoints: readonly string[];
  /** The entries of /. */
  readonly names: readonly string[];
  /** The target of /bin; absent if it is a directory. */
  readonly bin?: string;
}

export function writeBaseline(): void {
  const baseline: Baseline = defined({
    mountPoints: mountPoints(),
    names: readdirSync('/'),
    bin: binLink(),
  });
  writeFileSync(BASELINE_FILE, JSON.stringify(baseline, null, 2));
}

/** Undefined if /bin is missing, or not a symbolic link. */
function binLink(): string | undefined {
  return unlessGone(() => readlinkSync('/bin'));
}

/** What `heal` did not touch. */
export interface Healed {
  readonly agents: readonly Pick<RunningAgent, 'pid' | 'stateFolder'>[];
}

/**
 * Restores the initial state of the node after any break: kills every process, removes mounts and
 * files, and sets the node up again. An agent and its directory stay, because a user may need them.
 */
export async function heal(node: PracticeNode): Promise<Healed> {
  const baseline = JSON.parse(readFileSync(BASELINE_FILE, 'utf8')) as Baseline;
  // Before the first change: a node that cannot be healed stays as it is.
  checkMounts(without(baseline.mountPoints, mountPoints()), '-');
  const agents = runningAgents();
  await endDaemons(agents.flatMap(({ family }) => family));
  for (const cgroup of [labCgroup(node.settings.name), KUBELETS_CGROUP])
    await removeCgroupTree(cgroup);
  await unmountOthers(node, baseline);
  checkMounts(without(mountPoints(), baseline.mountPoints), '+');
  checkMounts(without(baseline.mountPoints, mountPoints()), '-');
  restoreBin(baseline);
  for (const name of readdirSync('/')) {
    if (!baseline.names.includes(name)) rmSync(join('/', name), { recursive: true });
  }
  const stored = [...RETAINED, ...agents.map(({ stateFolder }) => stateFolder)];
  for (const folder of WRITTEN) empty(folder, stored);
  await setUp(node);
  return { agents: agents.map(({ pid, stateFolder }) => ({ pid, stateFolder })) };
}

function restoreBin({ bin }: Baseline): void {
  if (bin === undefined || binLink() === bin) return;
  rmSync('/bin', { recursive: true, force: true });
  symlinkSync(bin, '/bin');
}

/** The newest first: it may be mounted below an older one. */
async function unmountOthers(node: PracticeNode, baseline: Baseline): Promise<void> {
  const others = without(mountPoints(), baseline.mountPoints);
  // All processes that use them have exited. A lazy unmount also detaches mounts that a namespace
  // without processes still holds.
  for (const point of others.toReversed()) {
    await node.run('umount', '--lazy', point).catch((error: unknown) => {
      // The unmount of its parent may have removed it.
      if (mountPoints().includes(point)) throw error;
    });
  }
}

/**
 * The next step deletes recursively. So the mounts must be exactly the known ones: an unknown mount
 * could expose files of the machine to the deletion.
 */
function checkMounts(others: readonly string[], sign: '+' | '-'): void {
  if (others.length === 0) return;
  const changes = others.slice(0, REPORTED_MAX).map((each) => sign + each);
  throw new Error(
    `its mounts differ from the initial state (${changes.join(' ')}), so nothing was deleted`,
  );
}

function empty(folder: string, stored: readonly string[]): void {
  if (stored.includes(folder)) return;
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (stored.some((each) => each.startsWith(`${path}/`))) empty(path, stored);
    else if (!stored.includes(path)) rmSync(path, { recursive: true, force: true });
  }
}

/**
 * Kills every daemon of this practice node except the given ones: the runtime with its containers,
 * the kubelet, leftovers of a break. A daemon has its own session. The sessions of the first
 * process and of processes that entered from outside have no ID in this PID namespace.
 */
async function endDaemons(stored: readonly number[]): Promise<void> {
  const deadline = Date.now() + END_MS;
  for (;;) {
    const left = allProcesses().filter(
      (pid) => pid > 1 && hasOwnSession(pid) && !stored.includes(pid),
    );
    if (left.length === 0) return;
    if (Date.now() > deadline) throw new Error(`processes ${left.join(', ')} do not end`);
    for (const pid of left) killIfThere(pid);
    await sleep(CHECK_INTERVAL_MS);
  }
}

function hasOwnSession(pid: number): boolean {
  const stat = procFile(pid, 'stat');
  // 812 (kubelet) S 1 812 812 0 -1 ...: state, parent, group, session
  const [state, , , session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return state !== undefined && !['', 'Z', 'X'].includes(state) && session !== '0';
}
