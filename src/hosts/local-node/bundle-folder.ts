import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { type BundleFiles, unpackBundle } from '../../node/recording/bundle.ts';
import { BundleError } from '../../node/recording/bundle-error.ts';
import { BUNDLE_BYTES_MAX, BUNDLE_FILES_MAX } from '../../node/recording/limits.ts';

/** The files of a bundle: an archive, or the directory of an unpacked one. */
export async function bundleFilesAt(path: string): Promise<BundleFiles> {
  const isFolder = readable(() => statSync(path).isDirectory());
  if (isFolder) return bundleFilesIn(path);
  return unpackBundle(readable(() => bytesOfFile(path, BUNDLE_BYTES_MAX)));
}

/** An unpacked bundle, such as a fixture. */
export function bundleFilesIn(folder: string): BundleFiles {
  return readable(() => {
    const names = ['manifest.json', 'answers.jsonl'].filter((name) =>
      existsSync(join(folder, name)),
    );
    const blobs = existsSync(join(folder, 'blobs')) ? readdirSync(join(folder, 'blobs')) : [];
    if (blobs.length > BUNDLE_FILES_MAX) {
      throw new BundleError(`more than ${BUNDLE_FILES_MAX} files`);
    }
    const files = new Map<string, Uint8Array>();
    let left = BUNDLE_BYTES_MAX;
    for (const name of [...names, ...blobs.map((blob) => `blobs/${blob}`)]) {
      const content = bytesOfFile(join(folder, name), left);
      left -= content.length;
      files.set(name, content);
    }
    return files;
  });
}

/** Reads a regular file up to a limit; throws for a pipe, a device or a larger file. */
function bytesOfFile(path: string, bytesMax: number): Buffer {
  if (!statSync(path).isFile()) throw notAFile();
  // If a pipe has replaced the file, open without O_NONBLOCK would wait for a writer.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    const status = fstatSync(file);
    if (!status.isFile()) throw notAFile();
    if (status.size > bytesMax) throw new BundleError(`more than ${BUNDLE_BYTES_MAX} bytes`);
    // One byte more than its size: a growing file, and a file of /proc, has more than that.
    const bytes = Buffer.alloc(status.size + 1);
    let length = 0;
    for (let more = 1; more > 0 && length < bytes.length; length += more) {
      more = readSync(file, bytes, length, bytes.length - length, null);
    }
    if (length === bytes.length) throw new BundleError('it changes while it is read');
    return bytes.subarray(0, length);
  } finally {
    closeSync(file);
  }
}

function notAFile(): BundleError {
  return new BundleError('it is neither a file nor a directory');
}

function readable<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (error instanceof BundleError || code === undefined) throw error;
    throw new BundleError(`it cannot be read (${message})`, { cause: error });
  }
}
