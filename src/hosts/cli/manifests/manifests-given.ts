import { existsSync } from 'node:fs';
import { UsageError } from '../../../lib/terminal/terminal.ts';
import type { ManifestOptions } from '../command-line/shared-options.ts';
import { bytesGiven, filesGiven } from '../input/given-file.ts';
import { MANIFEST_BYTES_MAX, MANIFEST_FILES_MAX } from '../limits.ts';

export interface ManifestFile {
  readonly name: string;
  readonly text: string;
}

// manifests/subpath-remount.yaml, set.yml, diagnosis.json
const MANIFEST = /[.](ya?ml|json)$/;

/** The manifests that `-f` names: files, directories or standard input. */
export async function manifestsGiven({
  filename,
  recursive = false,
}: ManifestOptions): Promise<readonly ManifestFile[]> {
  const names = filename
    .flatMap(pathsIn)
    .flatMap((path) => filesGiven(path, { names: MANIFEST, recursive }));
  if (names.length > MANIFEST_FILES_MAX) {
    throw new UsageError(`too many files: ${names.length}, the limit is ${MANIFEST_FILES_MAX}`);
  }
  const files: ManifestFile[] = [];
  for (const name of new Set(names)) {
    const bytes = await bytesGiven(name, MANIFEST_BYTES_MAX);
    // Some editors write a byte order mark.
    const text = Buffer.from(bytes)
      .toString('utf8')
      .replace(/^\ufeff/, '');
    files.push({ name: name === '-' ? 'stdin' : name, text });
  }
  return files;
}

/** As in kubectl, commas separate files, unless a file of that name exists. */
function pathsIn(word: string): readonly string[] {
  return existsSync(word) ? [word] : word.split(',').filter((path) => path !== '');
}
