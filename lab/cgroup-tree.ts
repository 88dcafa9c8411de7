import { globSync } from 'node:fs';
import { readFile, rmdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { killIfThere } from './process-mark.ts';

/** A killed process leaves its cgroup a moment later. */
const TRIES_MAX = 50;
const TRY_MS = 100;

/** Ends every process in a cgroup and below it, and removes it from every hierarchy. */
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

/** Deepest first, because a cgroup with children stays. */
async function foldersOf(cgroup: string): Promise<string[]> {
  const mounts = await readFile('/proc/self/mounts', 'utf8');
  return mounts
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, , fsType]) => fsType === 'cgroup' || fsType === 'cgroup2')
    .flatMap(([, hierarchy = '']) => {
      const top = join(hierarchy, cgroup);
      return globSync('**/', { cwd: top }).map((folder) => resolve(top, folder));
    })
    .toSorted((left, right) => right.length - left.length);
}

async function membersOf(folder: string): Promise<number[]> {
  const text = await readFile(join(folder, 'cgroup.procs'), 'utf8').catch(() => '');
  return text.split('\n').filter(Boolean).map(Number);
}
