import { bytesGiven, filesGiven } from './given-file.ts';
import { MANIFEST_BYTES_MAX, MANIFEST_FILES_MAX } from './limits.ts';
import { UsageError } from './usage-error.ts';

export interface ManifestFile {
  readonly name: string;
  readonly text: string;
}

// manifests/subpath-remount.yaml, set.yml, diagnosis.json
const MANIFEST = /[.](ya?ml|json)$/;

/** The manifests that `-f` names: files, folders of them, or what comes in. */
export async function manifestsGiven(
  filename: readonly string[],
): Promise<readonly ManifestFile[]> {
  const names = filename.flatMap((path) => filesGiven(path, MANIFEST));
  if (names.length > MANIFEST_FILES_MAX) {
    throw new UsageError(`these are ${names.length} files, of at most ${MANIFEST_FILES_MAX}`);
  }
  const files: ManifestFile[] = [];
  for (const name of new Set(names)) {
    const bytes = await bytesGiven(name, MANIFEST_BYTES_MAX);
    // Some editors begin a file with a mark of its encoding.
    const text = Buffer.from(bytes)
      .toString('utf8')
      .replace(/^\ufeff/, '');
    files.push({ name: name === '-' ? 'stdin' : name, text });
  }
  return files;
}
