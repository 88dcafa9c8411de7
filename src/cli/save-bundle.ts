import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Bundle, BundleError, filesOfBundle, packBundle } from '../node/bundle.ts';
import { makeFolder, prepareFolder, tried } from '../state/state-folder.ts';

type Saved = { readonly path: string } | { readonly trouble: string };

/** Keeps the evidence of a recovery below the state folder. */
export async function saveBundle(
  bundle: Bundle,
  stateFolder: string,
  name: string,
): Promise<Saved> {
  // Whoever else can write there could lead us to another file.
  const prepared = await tried(prepareFolder(stateFolder));
  if (!prepared.ok) return { trouble: prepared.why };
  return writeBundle(bundle, join(stateFolder, 'bundles', name));
}

/** Writes a bundle, for root's eyes only: it names pods, paths and volumes. */
export function writeBundle(bundle: Bundle, path: string): Saved {
  try {
    const packed = packBundle(filesOfBundle(bundle));
    makeFolder(dirname(path));
    const file = openSync(path, 'w', 0o600);
    try {
      for (let at = 0; at < packed.length; ) at += writeSync(file, packed, at);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    return { path };
  } catch (error) {
    const isKnown = error instanceof BundleError || (error as NodeJS.ErrnoException).code;
    if (!isKnown) throw error;
    return { trouble: (error as Error).message };
  }
}
