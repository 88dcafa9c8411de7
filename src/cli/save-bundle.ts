import { closeSync, fsyncSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Bundle, BundleError, filesOfBundle, packBundle } from '../node/bundle.ts';

type Saved = { readonly path: string } | { readonly trouble: string };

/** Keeps the evidence of a recovery below the state folder. */
export function saveBundle(bundle: Bundle, stateFolder: string, name: string): Saved {
  return writeBundle(bundle, join(stateFolder, 'bundles', name));
}

/** Writes a bundle, for root's eyes only: it names pods, paths and volumes. */
export function writeBundle(bundle: Bundle, path: string): Saved {
  try {
    const packed = packBundle(filesOfBundle(bundle));
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
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
