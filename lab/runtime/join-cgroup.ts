import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Creates a cgroup and moves a process into it, in the first writable hierarchy: one is enough to
 * recognize the container. Without a writable hierarchy there is no cgroup.
 */
export async function joinCgroup(cgroup: string, pid: number): Promise<void> {
  // PID 0, of a process that could not be started, would mean ourselves.
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

/** Removes the cgroup, and what is empty above it up to `top`. One that has members stays. */
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

// cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid,nodev,noexec,relatime 0 0
async function hierarchies(): Promise<readonly string[]> {
  const mounts = (await readFile('/proc/self/mounts', 'utf8')).split('\n');
  const all = mounts.map((line) => line.split(' '));
  const of = (wanted: string) =>
    all.filter(([, , type]) => type === wanted).map(([, folder = '']) => folder);
  // Of the many v1 hierarchies, cpuset accepts no process before it is configured.
  return [...of('cgroup2'), ...of('cgroup')];
}
