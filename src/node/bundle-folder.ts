import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BundleFiles } from './bundle.ts';

/** A bundle that somebody unpacked, as fixtures are. */
export function bundleFilesIn(folder: string): BundleFiles {
  const names = ['manifest.json', 'answers.jsonl'].filter((name) => existsSync(join(folder, name)));
  const blobs = existsSync(join(folder, 'blobs')) ? readdirSync(join(folder, 'blobs')) : [];
  const all = [...names, ...blobs.map((name) => `blobs/${name}`)];
  return new Map(all.map((name) => [name, readFileSync(join(folder, name))]));
}
