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

/** The files of a bundle: an archive, or the folder that somebody unpacked it to. */
export async function bundleFilesAt(path: string): Promise<BundleFiles> {
  const isFolder = readable(() => statSync(path).isDirectory());
  if (isFolder) return bundleFilesIn(path);
  return unpackBundle(readable(() => bytesOfFile(path, BUNDLE_BYTES_MAX)));
}

/** A bundle that somebody unpacked, as fixtures are. */
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

/** Whatever lies at the path: a pipe, a device and a file without end are no bundle, and end. */
function bytesOfFile(path: string, bytesMax: number): Buffer {
  if (!statSync(path).isFile()) throw notAFile();
  // Without O_NONBLOCK, a pipe put in its place since would make us wait for a writer.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    const status = fstatSync(file);
    if (!status.isFile()) throw notAFile();
    if (status.size > bytesMax) throw new BundleError(`more than ${BUNDLE_BYTES_MAX} bytes`);
    // One byte more than it claims: a file that grows, and those of the kernel, say too little.
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
  return new BundleError('it is neither a file nor a folder');
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
