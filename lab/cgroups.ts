import { globSync } from 'node:fs';
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { killIfThere } from './process-mark.ts';

/** A killed process stays in its cgroup for a moment, so a removal is retried. */
const TRIES_MAX = 50;
const TRY_MS = 100;

/** The parent of all cgroups of a lab, in the hierarchies of the machine. */
export function labCgroup(name: string): string {
  return `/kubediag-lab-${name}`;
}

/**
 * Creates a cgroup in the first writable hierarchy, which is enough to recognize the container, and
 * moves a process into it. Does nothing without a writable hierarchy.
 */
export async function joinCgroup(cgroup: string, pid: number): Promise<void> {
  // A process that could not be started has PID 0, which would mean this process.
  if (pid === 0) return;
  for (const hierarchy of await hierarchies()) {
    const folder = join(hierarchy, cgroup);
    const hasJoined = await mkdir(folder, { recursive: true })
      .then(() => writeFile(join(folder, 'cgroup.procs'), `${pid}\n`))
      .then(
        () => true,
        () => false,
      );
    if (hasJoined) return;
  }
}

/** Removes the cgroup and its empty ancestors below `top`. A cgroup with members stays. */
export async function leaveCgroup(cgroup: string, top: string): Promise<void> {
  for (const hierarchy of await hierarchies()) {
    for (let path = cgroup; path.startsWith(`${top}/`); path = join(path, '..')) {
      const isGone = await rmdir(join(hierarchy, path)).then(
        () => true,
        () => false,
      );
      if (!isGone) break;
    }
  }
}

/** Kills every process in a cgroup and its descendants, and removes them from every hierarchy. */
export async function removeCgroupTree(cgroup: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    const folders = await foldersOf(cgroup);
    if (folders.length === 0) return;
    if (tries > TRIES_MAX) throw new Error(`cgroups cannot be removed: ${folders.join(' ')}`);
    for (const folder of folders) {
      for (const pid of await membersOf(folder)) killIfThere(pid);
      await rmdir(folder).catch(() => {});
    }
    if (tries > 1) await sleep(TRY_MS);
  }
}

/** Deepest first, because a cgroup with children cannot be removed. */
async function foldersOf(cgroup: string): Promise<readonly string[]> {
  const tops = (await hierarchies()).map((hierarchy) => join(hierarchy, cgroup));
  return tops
    .flatMap((top) => globSync('**/', { cwd: top }).map((folder) => resolve(top, folder)))
    .toSorted((left, right) => right.length - left.length);
}

async function membersOf(folder: string): Promise<number[]> {
  const text = await readFile(join(folder, 'cgroup.procs'), 'utf8').catch(() => '');
  return text.split('\n').filter(Boolean).map(Number);
}

// cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid,nodev,noexec,relatime 0 0
async function hierarchies(): Promise<readonly string[]> {
  const mounts = (await readFile('/proc/self/mounts', 'utf8')).split('\n');
  const all = mounts.map((line) => line.split(' '));
  const of = (wanted: string) =>
    all.filter(([, , type]) => type === wanted).map(([, folder = '']) => folder);
  // v2 first: the cpuset hierarchy of v1 accepts no process before it is configured.
  return [...of('cgroup2'), ...of('cgroup')];
}
