import { existsSync, lstatSync, mkdirSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { mountPoints } from '../mount-points.ts';
import type { Behaviour } from './behaviour.ts';
import { bind, unmount } from './mounts.ts';

export interface SubpathPlace {
  readonly volumeFolder: string;
  readonly subPath: string;
  /** pods/UID/volume-subpaths/VOLUME/CONTAINER/INDEX: what the container gets. */
  readonly target: string;
  /** Whether a missing name is created: the pod owns the volume. */
  readonly isCreated: boolean;
}

/** Mounts a subPath of a volume for a container, before each start. */
export async function prepareSubpath(place: SubpathPlace, { subpaths }: Behaviour): Promise<void> {
  const { volumeFolder, subPath, target, isCreated } = place;
  const name = join(volumeFolder, subPath);
  if (isCreated) mkdirSync(name, { recursive: true });
  if (!existsSync(name)) throw new Error(`lstat ${name}: no such file or directory`);
  // Links are resolved first: the mount is of the current file, in its directory named after the time.
  const source = realpathSync(name);
  if (mountPoints().includes(target)) {
    if (subpaths === 'reused' || isSame(source, target)) return;
    await unmount(target);
  }
  if (statSync(source).isDirectory()) mkdirSync(target, { recursive: true });
  else {
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, '', { flag: 'a' });
  }
  await bind(source, target);
}

/** Whether a prepared mount of a container has been unmounted. */
export function hasLostSubpath(mounts: readonly { readonly hostPath: string }[]): boolean {
  const points = mountPoints();
  const subpaths = mounts.filter(({ hostPath }) => hostPath.includes('/volume-subpaths/'));
  return subpaths.some(({ hostPath }) => !points.includes(hostPath));
}

function isSame(source: string, target: string): boolean {
  const [one, other] = [lstatSync(source), lstatSync(target)];
  return one.dev === other.dev && one.ino === other.ino;
}
