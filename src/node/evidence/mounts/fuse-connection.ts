import type { MountTable } from './mount-table.ts';

/** Devices have a major number in the upper bits, as the kernel stores them. */
const MINORS = 2 ** 20;

/**
 * Where the kernel shows the connection of a FUSE mount; undefined where that is not mounted. It is
 * called by the whole device number: 57 is that of 0:57, and 8388624 that of 8:16 (fuseblk).
 */
export function fuseConnection(device: string, { mounts }: MountTable): string | undefined {
  const control = mounts.findLast(({ fsType }) => fsType === 'fusectl');
  const [major = 0, minor = 0] = device.split(':').map(Number);
  return control && `${control.target}/${major * MINORS + minor}`;
}
