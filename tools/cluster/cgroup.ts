import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Makes a cgroup for the cluster in every hierarchy, in it one for the node, and in that the one that
 * containerd is to live in. runc puts containers below its own cgroup (version 1) or beside it
 * (version 2): in either case all of them are found, and removed, by one name. Gives the directories
 * of containerd's.
 */
export async function makeCgroup(cgroup: string, node: string): Promise<readonly string[]> {
  const folders = [];
  for (const hierarchy of await hierarchies()) {
    let folder = hierarchy;
    for (const name of [cgroup, node, 'containerd']) {
      const parent = folder;
      folder = join(parent, name);
      await mkdir(folder, { recursive: true });
      await inheritProcessors(parent, folder);
    }
    folders.push(folder);
  }
  return folders;
}

/** Version 1 gives a new cgroup no processor and no memory, and lets nobody in before it has some. */
async function inheritProcessors(from: string, to: string): Promise<void> {
  for (const name of ['cpuset.cpus', 'cpuset.mems']) {
    if (!existsSync(join(to, name))) continue;
    const has = (await readFile(join(to, name), 'utf8')).trim();
    if (!has) await writeFile(join(to, name), await readFile(join(from, name), 'utf8'));
  }
}

async function hierarchies(): Promise<readonly string[]> {
  const mounts = await readFile('/proc/self/mounts', 'utf8');
  return mounts
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, , fsType]) => fsType === 'cgroup' || fsType === 'cgroup2')
    .map(([, folder = '']) => folder);
}
