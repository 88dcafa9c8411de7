import { readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Report } from '../checkup/report.ts';
import { type Bundle, filesOfBundle, packBundle } from '../node/bundle.ts';
import { BundleError } from '../node/bundle-error.ts';
import { makeFolder, prepareFolder, tried } from '../state/state-folder.ts';
import { writeNewFile } from './write-new-file.ts';

/** Recoveries whose evidence is kept. One has a few hundred kilobytes on a large node. */
const BUNDLES_MAX = 100;

type Saved = { readonly path: string } | { readonly trouble: string };

// 20261115T102233-3f9a1c.tgz
export function bundleNameOf({ node }: Pick<Report, 'node'>, findingId: string): string {
  return `${node.time.replace(/[-:]|\.\d+Z$/g, '')}-${findingId}.tgz`;
}

/** Keeps the evidence of a recovery below the state folder. */
export async function saveBundle(
  bundle: Bundle,
  stateFolder: string,
  name: string,
): Promise<Saved> {
  // Whoever else can write there could lead us to another file.
  const prepared = await tried(prepareFolder(stateFolder));
  if (!prepared.ok) return { trouble: prepared.why };
  const path = join(stateFolder, 'bundles', name);
  // Of the same finding in the same second: the later one counts.
  rmSync(path, { force: true });
  const saved = writeBundle(bundle, path);
  if ('path' in saved) removeOldest(join(stateFolder, 'bundles'));
  return saved;
}

/** Their names begin with the time, so the oldest come first. Only what we ourselves wrote is ours. */
function removeOldest(folder: string): void {
  // 20261115T102233-3f9a1c.tgz
  const ours = readdirSync(folder).filter((name) => /^\d{8}T\d{6}-[0-9a-f]+\.tgz$/.test(name));
  for (const name of ours.toSorted().slice(0, -BUNDLES_MAX)) rmSync(join(folder, name));
}

/** Writes a bundle, to a new file for root's eyes only: it names pods, paths and volumes. */
export function writeBundle(bundle: Bundle, path: string, write = writeNewFile): Saved {
  try {
    const packed = packBundle(filesOfBundle(bundle));
    makeFolder(dirname(path));
    write(path, packed);
    return { path };
  } catch (error) {
    const isKnown = error instanceof BundleError || (error as NodeJS.ErrnoException).code;
    if (!isKnown) throw error;
    return { trouble: (error as Error).message };
  }
}
