import { join } from 'node:path';
import { PLACES } from '../../lab/places.ts';
import { BUSYBOX_IMAGE } from '../../test/rig/busybox-image.ts';
import type { UnpackedPackages } from '../debian-packages.ts';
import { type ClusterNode, POD_IMAGE } from './node.ts';

/** Nothing is pulled: pods and their sandboxes run from what is imported here. */
export async function importImages(
  node: ClusterNode,
  archive: string,
  { root, environment }: UnpackedPackages,
): Promise<boolean> {
  const address = ['--address', PLACES.runtimeSocket];
  const ctr = [join(root, 'usr/bin/ctr'), ...address, '-n', 'k8s.io', 'images'];
  const images = (...words: readonly string[]) => node.run([...ctr, ...words], { environment });
  const imported = await images('import', '--snapshotter', 'native', archive);
  return imported.code === 0 && (await images('tag', BUSYBOX_IMAGE, POD_IMAGE)).code === 0;
}
