import { readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type Baseline, linkAt, readBaseline } from './baseline.ts';
import { removeCgroupTree } from './cgroup-tree.ts';
import { mountPoints } from './mount-points.ts';
import { endDaemons } from './node-daemons.ts';
import { PLACES } from './places.ts';
import type { PracticeNode } from './practice-node.ts';
import { type RunningAgent, runningAgents } from './running-agents.ts';
import { labCgroup } from './runtime/lab-cgroup.ts';
import { setUp } from './set-up.ts';

/** What a node writes while it runs. Each is a filesystem of its own, and empty when it begins. */
export const WRITTEN = [
  PLACES.kubeletRoot,
  '/var/lib/containerd',
  '/var/lib/kubediag',
  '/var/log',
  '/etc/kubernetes',
  '/run',
  '/tmp',
];

/** Of the pods of a real kubelet; ours, and breaks, name that of the lab. */
const KUBELETS_CGROUP = '/kubepods';

/** Of the mounts that are other than they were. */
const REPORTED_MAX = 10;

/** What stays: which lab this is, and what it was at first. */
const KEPT = ['lab.json', 'baseline.json'].map((name) => join(PLACES.lab, name));

/** What a heal left as it was. */
export interface Healed {
  readonly agents: readonly Pick<RunningAgent, 'pid' | 'stateFolder'>[];
}

/**
 * Takes the node back to what it was when it was made, whatever was done to it: everything that runs
 * on it is ended, what was mounted and written is taken away, and it is furnished once more. Nothing
 * of it depends on what the break was. An agent goes on, with its own folder: somebody is using it.
 */
export async function heal(node: PracticeNode): Promise<Healed> {
  const baseline = readBaseline();
  // While all still runs: a node that cannot be healed is left as it is.
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
  const stored = [...KEPT, ...agents.map(({ stateFolder }) => stateFolder)];
  for (const folder of WRITTEN) empty(folder, stored);
  await setUp(node);
  return { agents: agents.map(({ pid, stateFolder }) => ({ pid, stateFolder })) };
}

function restoreBin({ bin }: Baseline): void {
  if (bin === undefined || linkAt('/bin') === bin) return;
  rmSync('/bin', { recursive: true, force: true });
  symlinkSync(bin, '/bin');
}

/** The newest first: it may lie on an older one. */
async function unmountOthers(node: PracticeNode, baseline: Baseline): Promise<void> {
  const others = without(mountPoints(), baseline.mountPoints);
  // Whoever used them is gone. One that a namespace without processes still holds is let go of.
  for (const point of others.toReversed()) {
    await node.run('umount', '--lazy', point).catch((error: unknown) => {
      // It may have gone together with what it lay on.
      if (mountPoints().includes(point)) throw error;
    });
  }
}

/**
 * What is deleted next is deleted with all below it. So before that the mounts must be those that we
 * know, each of them: through any other the deletion could go on in somebody else's files.
 */
function checkMounts(others: readonly string[], sign: '+' | '-'): void {
  if (others.length === 0) return;
  const changes = others.slice(0, REPORTED_MAX).map((each) => sign + each);
  throw new Error(
    `its mounts are not those that it was made with (${changes.join(' ')}), so ` +
      'nothing is deleted there',
  );
}

/** What stands twice goes once for each time that it is taken away. */
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
