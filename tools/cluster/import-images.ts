import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PLACES } from '../../lab/places.ts';
import { BUSYBOX_IMAGE, busyboxImage } from '../../test/rig/busybox-image.ts';
import type { UnpackedPackages } from '../debian-packages.ts';
import { imagePackages, kubediagImage } from '../image/kubediag-image.ts';
import { type ClusterNode, POD_IMAGE } from './node.ts';

const EXECUTABLE = join(import.meta.dirname, '../../dist/kubediag');

/** What `npm run build` made, if it was run. */
export function builtExecutable(): string | undefined {
  return existsSync(EXECUTABLE) ? EXECUTABLE : undefined;
}

/** Writes the archives of all images that pods and their sandboxes can run. */
export async function writeImages(
  scratch: string,
  { root }: UnpackedPackages,
  executable: string | undefined,
): Promise<readonly string[]> {
  const archive = async (name: string, content: Uint8Array) => {
    const path = join(scratch, `${name}.tar`);
    await writeFile(path, content);
    return path;
  };
  const archives = [await archive('busybox', await busyboxImage(join(root, 'bin/busybox')))];
  if (!executable) return archives;
  const packages = await imagePackages();
  if ('missing' in packages) throw new Error(packages.missing);
  return [...archives, await archive('kubediag', await kubediagImage(executable, packages))];
}

/** Nothing is pulled: pods run from what is imported here. False while containerd does not answer. */
export async function importImages(
  node: Pick<ClusterNode, 'run'>,
  archives: readonly string[],
  { root, environment }: UnpackedPackages,
): Promise<boolean> {
  const address = ['--address', PLACES.runtimeSocket];
  const ctr = [join(root, 'usr/bin/ctr'), ...address, '-n', 'k8s.io', 'images'];
  const images = async (...words: readonly string[]) =>
    (await node.run([...ctr, ...words], { environment })).code === 0;
  for (const archive of archives) {
    if (!(await images('import', '--snapshotter', 'native', archive))) return false;
  }
  return images('tag', '--force', BUSYBOX_IMAGE, POD_IMAGE);
}
