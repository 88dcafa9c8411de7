import { readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type Baseline, linkAt, readBaseline } from './baseline.ts';
import { labCgroup, removeCgroupTree } from './cgroups.ts';
import { mountPoints } from './mount-tables.ts';
import { endDaemons } from './node-daemons.ts';
import { PLACES } from './places.ts';
import type { PracticeNode } from './practice-node.ts';
import { type RunningAgent, runningAgents } from './running-agents.ts';
import { setUp } from './set-up.ts';

/** What a running node writes. Each is a filesystem of its own, and empty at first. */
export const WRITTEN = [
  PLACES.kubeletRoot,
  '/var/lib/containerd',
  '/var/lib/kubediag',
  '/var/log',
  '/etc/kubernetes',
  '/run',
  '/tmp',
];

/** The cgroup of pods of a real kubelet; the stand-in and the breaks use that of the lab. */
const KUBELETS_CGROUP = '/kubepods';

/** Of the mounts that differ. */
const REPORTED_MAX = 10;

/** Files about the lab itself and its initial state. */
const RETAINED = ['lab.json', 'baseline.json'].map((name) => join(PLACES.lab, name));

/** What `heal` did not touch. */
export interface Healed {
  readonly agents: readonly Pick<RunningAgent, 'pid' | 'stateFolder'>[];
}

/**
 * Restores the initial state of the node, whatever the break was: ends every process, removes mounts
 * and files, and sets the node up again. An agent and its directory are not touched: somebody uses it.
 */
export async function heal(node: PracticeNode): Promise<Healed> {
  const baseline = readBaseline();
  // Before anything is changed: a node that cannot be healed stays as it is.
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
  if (bin === undefined || linkAt('/bin') === bin) return;
  rmSync('/bin', { recursive: true, force: true });
  symlinkSync(bin, '/bin');
}

/** The newest first: it may be below an older one. */
async function unmountOthers(node: PracticeNode, baseline: Baseline): Promise<void> {
  const others = without(mountPoints(), baseline.mountPoints);
  // All users have ended. A lazy unmount also detaches mounts that an empty namespace still holds.
  for (const point of others.toReversed()) {
    await node.run('umount', '--lazy', point).catch((error: unknown) => {
      // It may have gone together with its parent.
      if (mountPoints().includes(point)) throw error;
    });
  }
}

/**
 * The next step deletes recursively. So the mounts must be exactly the known ones: through any other
 * the deletion could reach files of somebody else.
 */
function checkMounts(others: readonly string[], sign: '+' | '-'): void {
  if (others.length === 0) return;
  const changes = others.slice(0, REPORTED_MAX).map((each) => sign + each);
  throw new Error(
    `its mounts differ from the initial state (${changes.join(' ')}), so nothing was deleted`,
  );
}

/** The multiset difference. */
function without(points: readonly string[], taken: readonly string[]): readonly string[] {
  const left = [...taken];
  return points.filter((point) => {
    const at = left.indexOf(point);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

function empty(folder: string, stored: readonly string[]): void {
  if (stored.includes(folder)) return;
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (stored.some((each) => each.startsWith(`${path}/`))) empty(path, stored);
    else if (!stored.includes(path)) rmSync(path, { recursive: true, force: true });
  }
}
