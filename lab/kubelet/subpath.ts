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
  /** Whether a name that is not there is made: the pod owns the volume. */
  readonly isCreated: boolean;
}

/** Mounts one name of a volume for one container, before each of its starts. */
export async function prepareSubpath(place: SubpathPlace, { subpaths }: Behaviour): Promise<void> {
  const { volumeFolder, subPath, target, isCreated } = place;
  const name = join(volumeFolder, subPath);
  if (isCreated) mkdirSync(name, { recursive: true });
  if (!existsSync(name)) throw new Error(`lstat ${name}: no such file or directory`);
  // All links are followed first: bound is the file of this moment, in its folder with a time.
  const source = realpathSync(name);
  if (mountPoints().includes(target)) {
    if (subpaths === 'keeps' || isSame(source, target)) return;
    await unmount(target);
  }
  if (statSync(source).isDirectory()) mkdirSync(target, { recursive: true });
  else {
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, '', { flag: 'a' });
  }
  await bind(source, target);
}

/** Whether one of the mounts of a container, which was prepared, is none any more. */
export function hasLostSubpath(mounts: readonly { readonly hostPath: string }[]): boolean {
  const points = mountPoints();
  const subpaths = mounts.filter(({ hostPath }) => hostPath.includes('/volume-subpaths/'));
  return subpaths.some(({ hostPath }) => !points.includes(hostPath));
}

function isSame(source: string, target: string): boolean {
  const [one, other] = [lstatSync(source), lstatSync(target)];
  return one.dev === other.dev && one.ino === other.ino;
}
