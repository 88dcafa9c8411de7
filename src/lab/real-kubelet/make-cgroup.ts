import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Makes a cgroup in every hierarchy, and below it the one that containerd is to live in. runc puts
 * containers below its own cgroup (version 1) or beside it (version 2): in either case all of them
 * are found, and removed, by one name. Gives the folders of containerd's.
 */
export async function makeCgroup(cgroup: string): Promise<readonly string[]> {
  const folders = [];
  // A practice node has its own cgroup mounted once more, in the midst of each hierarchy.
  const whole = (await hierarchies()).filter((folder) => !folder.endsWith(cgroup));
  for (const hierarchy of whole) {
    const parent = join(hierarchy, cgroup);
    const folder = join(parent, 'containerd');
    await mkdir(folder, { recursive: true });
    for (const [from, to] of [[hierarchy, parent] as const, [parent, folder] as const]) {
      await inheritProcessors(from, to);
    }
    folders.push(folder);
  }
  return folders;
}

/**
 * Goes into the cgroup of a lab, and with us whatever we start from now on: where a kubelet names no
 * cgroup for its pods they come to be where the runtime is, and nowhere else may a practice node make any.
 */
export async function enterCgroup(cgroup: string): Promise<void> {
  for (const folder of await makeCgroup(cgroup)) {
    await writeFile(join(folder, 'cgroup.procs'), `${process.pid}\n`);
  }
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
