import { type Dirent, existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { geteuid } from 'node:process';
import { gunzipSync } from 'node:zlib';
import { type Profile, ProfileError, parseProfile } from '../../../lib/go/profile.ts';
import { diskAdvice } from '../../../lib/std/disk-advice.ts';
import { messageOf } from '../../../lib/std/message-of.ts';
import { textOf } from '../../../lib/std/text-codec.ts';
import { outData, type Terminal } from '../../../lib/terminal/terminal.ts';
import { UsageError } from '../../../lib/terminal/usage-error.ts';
import { refuseExisting, writeNewFile } from '../../local-node/write-new-file.ts';
import { type Hint, piecesGiven } from './given-stream.ts';

/** Files that a person named: what is wrong with one is told to them, and is no defect of ours. */

const UNPACKED_BYTES_MAX = 512 * 1024 * 1024;

/** Reads a file, or with "-" what comes in, piece by piece. */
export async function readPieces(
  path: string,
  take: (chunk: Uint8Array) => void,
  { bytesMax, hint }: { readonly bytesMax: number; readonly hint?: Hint },
): Promise<void> {
  let total = 0;
  try {
    for await (const chunk of await piecesGiven(path, hint)) {
      total += chunk.length;
      if (total > bytesMax) {
        const name = path === '-' ? 'standard input' : path;
        throw new UsageError(`${name} has more than ${bytesMax} bytes`);
      }
      take(chunk);
    }
  } catch (error) {
    throw adviceOf(error, path, 'cannot be read');
  }
}

/** The same, as a whole. */
export async function bytesGiven(path: string, bytesMax: number, hint?: Hint): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  await readPieces(path, (chunk) => void chunks.push(chunk), {
    bytesMax,
    ...(hint ? { hint } : {}),
  });
  return Buffer.concat(chunks);
}

/** The path itself, or the files in the folder that it is whose names match, in their order. */
export function filesGiven(
  path: string,
  { names, recursive }: { readonly names: RegExp; readonly recursive: boolean },
): readonly string[] {
  try {
    if (path === '-' || !statSync(path).isDirectory()) return [path];
    const entries = readdirSync(path, { recursive, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile() && names.test(entry.name));
    if (files.length === 0) throw noneIn(path, !recursive && entries.some(isFolder));
    return files.map((entry) => join(entry.parentPath, entry.name)).toSorted();
  } catch (error) {
    throw adviceOf(error, path, 'cannot be read');
  }
}

function isFolder(entry: Dirent): boolean {
  return entry.isDirectory();
}

function noneIn(folder: string, hasFolders: boolean): UsageError {
  const todo = hasFolders ? '; use -R to read its subfolders' : '';
  return new UsageError(`${folder}: no .yaml, .yml or .json file in this folder${todo}`);
}

/** Standard output, as a person names it in the place of a file. */
export function isStandardOutput(path: string | undefined): boolean {
  return path === '-' || path === '/dev/stdout';
}

/** Ends a command before it has collected anything for a file that could not be written. */
export function checkOutputs(...paths: readonly (string | undefined)[]): void {
  for (const path of paths) {
    if (path === undefined || isStandardOutput(path)) continue;
    requireFolderOf(path);
    advised(path, () => refuseExisting(path));
  }
}

/** A folder that is not there is a slip of the keyboard more often than a wish for a new one. */
function requireFolderOf(path: string): void {
  const folder = dirname(path);
  if (existsSync(folder)) return;
  throw new UsageError(`${path} cannot be written: the directory ${folder} does not exist`);
}

/** Writes to a new file; or to standard output, where a pipe gets the bytes as they are. */
export function writeGiven(path: string, bytes: Uint8Array, terminal: Terminal): void {
  if (!isStandardOutput(path)) advised(path, () => writeNewFile(path, bytes));
  else if (terminal.isOutTerminal) outData(textOf(Buffer.from(bytes)), terminal);
  else process.stdout.write(bytes);
}

function advised(path: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    throw adviceOf(error, path, 'cannot be written');
  }
}

/** A profile as programs save it, packed or not. */
export function profileIn(bytes: Uint8Array, name: string): Profile {
  try {
    const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
    const limit = { maxOutputLength: UNPACKED_BYTES_MAX };
    return parseProfile(isPacked ? gunzipSync(bytes, limit) : bytes);
  } catch (error) {
    const isTheirs = error instanceof ProfileError || isOfSystem(error);
    if (!isTheirs) throw error;
    throw new UsageError(
      `${name} is no profile: ${error.message}\n  expected: what ` +
        '/debug/pprof/profile of a Go program sends, as kubediag profile --save keeps it',
    );
  }
}

function adviceOf(error: unknown, path: string, what: string): unknown {
  return isOfSystem(error) ? new UsageError(`${path} ${what}: ${reasonOf(error, path)}`) : error;
}

/** Why a file that a person named cannot be used, and what to do, without its name. */
export function reasonOf(error: unknown, path: string): string {
  const advice = diskAdvice(error, { isRoot: geteuid?.() === 0, instead: 'name another file' });
  // The path is that of the file, or of a folder on the way to it.
  return advice ? `${advice.why.replace(`${path}: `, '')}; ${advice.todo}` : messageOf(error);
}

/** An error of the disk or of the packer, which both have a code. */
function isOfSystem(error: unknown): error is Error {
  return error instanceof Error && 'code' in error;
}
