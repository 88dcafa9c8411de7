import { readlinkSync, statfsSync, symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { PracticeNode } from './practice-node.ts';

/** The magic number of statfs(2). */
const OVERLAY = 0x794c7630;

/**
 * Gives a practice node a root of its own: all of the machine's, with what is written or deleted kept
 * in memory. From then on "/" of the node is not "/" of the machine. /tmp stays shared, for the test
 * talks to the node through it.
 */
export async function givePrivateRoot(node: PracticeNode): Promise<void> {
  const home = join(node.scratch, 'private');
  const script = `
    set -e
    mkdir ${home}
    mount -t tmpfs tmpfs ${home}
    mkdir ${home}/upper ${home}/work ${home}/root
    mount -t overlay overlay -o lowerdir=/,upperdir=${home}/upper,workdir=${home}/work ${home}/root
    cd ${home}/root
    for name in proc sys dev run; do mount --rbind /$name $name; done
    mount --bind /tmp tmp
    mkdir old
    pivot_root . old
    umount -l /old
    rmdir /old`;
  await node.inside.run('sh', '-c', script);
  checkPrivate(node);
}

/** Whatever changes the root of the node asks this first. */
function checkPrivate(node: PracticeNode): string {
  const root = `/proc/${node.inside.pid}/root`;
  const isApart =
    readlinkSync(`/proc/${node.inside.pid}/ns/mnt`) !== readlinkSync('/proc/self/ns/mnt');
  if (!isApart || statfsSync(`${root}/`).type !== OVERLAY) {
    throw new Error('the root of this node is not private');
  }
  return root;
}

export function deleteBin(node: PracticeNode): void {
  unlinkSync(join(checkPrivate(node), 'bin'));
}

/** Where /bin of the node leads; undefined when it is gone. */
export function binOf(node: PracticeNode): string | undefined {
  try {
    return readlinkSync(join(checkPrivate(node), 'bin'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

export function makeBin(node: PracticeNode, target: string): void {
  symlinkSync(target, join(checkPrivate(node), 'bin'));
}
