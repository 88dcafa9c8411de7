import { existsSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { imagePackages, KUBEDIAG_IMAGE, kubediagImage } from './image/kubediag-image.ts';

const DIST = join(import.meta.dirname, '../dist');
const EXECUTABLE = join(DIST, 'kubediag');
const ARCHIVE = join(DIST, 'kubediag-image.tar');

/** Writes the image of the built executable as an archive that `ctr images import` takes. */
async function main(): Promise<number> {
  if (!existsSync(EXECUTABLE)) {
    console.error('dist/kubediag is missing: run npm run build');
    return 1;
  }
  const packages = await imagePackages();
  if ('missing' in packages) {
    console.error(packages.missing);
    return 1;
  }
  const archive = await kubediagImage(EXECUTABLE, packages);
  const work = `${ARCHIVE}.${process.pid}`;
  await writeFile(work, archive);
  await rename(work, ARCHIVE);
  const megabytes = (archive.length / 1_000_000).toFixed(0);
  console.error(`built dist/kubediag-image.tar (${KUBEDIAG_IMAGE}), ${megabytes} MB`);
  return 0;
}

process.exitCode = await main();
