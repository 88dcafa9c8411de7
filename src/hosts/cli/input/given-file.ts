import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { geteuid } from 'node:process';
import { gunzipSync } from 'node:zlib';
import { type Profile, ProfileError, parseProfile } from '../../../lib/go/profile.ts';
import { diskAdvice } from '../../../lib/std/disk-advice.ts';
import { messageOf } from '../../../lib/std/message-of.ts';
import { textOf } from '../../../lib/std/text-codec.ts';
import { outData, type Terminal, UsageError } from '../../../lib/terminal/terminal.ts';
import { refuseExisting, writeNewFile } from '../../local-node/write-new-file.ts';
import { type Hint, piecesGiven } from './given-stream.ts';
import { isZipped } from './unpacked-pieces.ts';

/** Files that a person named. An unusable one is a usage error, not a defect. */

const UNPACKED_BYTES_MAX = 512 * 1024 * 1024;

/** Reads a file, or with "-" standard input, piece by piece. */
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
        throw new UsageError(`${name}: larger than ${bytesMax} bytes`);
      }
      take(chunk);
    }
  } catch (error) {
    throw adviceOf(error, path);
  }
}

/** The same, all bytes at once. */
export async function bytesGiven(path: string, bytesMax: number, hint?: Hint): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  await readPieces(path, (chunk) => void chunks.push(chunk), {
    bytesMax,
    ...(hint ? { hint } : {}),
  });
  return Buffer.concat(chunks);
}

/** The path itself; of a directory, its files with matching names in order. */
export function filesGiven(
  path: string,
  { names, recursive }: { readonly names: RegExp; readonly recursive: boolean },
): readonly string[] {
  try {
    if (path === '-' || !statSync(path).isDirectory()) return [path];
    const entries = readdirSync(path, { recursive, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile() && names.test(entry.name));
    if (files.length === 0) {
      const hasMore = !recursive && entries.some((entry) => entry.isDirectory());
      const todo = hasMore ? '; use -R to read its subdirectories' : '';
      throw new UsageError(`${path}: no .yaml, .yml or .json file in this directory${todo}`);
    }
    return files.map((entry) => join(entry.parentPath, entry.name)).toSorted();
  } catch (error) {
    throw adviceOf(error, path);
  }
}

/** Whether a person means standard output instead of a file. */
export function isStandardOutput(path: string | undefined): boolean {
  return path === '-' || path === '/dev/stdout';
}

/** Fails before anything was collected for a file that cannot be written. */
export function checkOutputs(...paths: readonly (string | undefined)[]): void {
  for (const path of paths) {
    if (path === undefined || isStandardOutput(path)) continue;
    // A missing directory is more often a typing error than a request to create it.
    const folder = dirname(path);
    if (!existsSync(folder)) throw new UsageError(`${path}: no such directory: ${folder}`);
    advised(path, () => refuseExisting(path));
  }
}

/** Writes to a new file, or to standard output; a pipe gets the bytes unchanged. */
export function writeGiven(path: string, bytes: Uint8Array, terminal: Terminal): void {
  if (!isStandardOutput(path)) advised(path, () => writeNewFile(path, bytes));
  else if (terminal.isOutTerminal) outData(textOf(Buffer.from(bytes)), terminal);
  else process.stdout.write(bytes);
}

function advised(path: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    throw adviceOf(error, path);
  }
}

/** A profile as programs save it, compressed or not. */
export function profileIn(bytes: Uint8Array, name: string): Profile {
  try {
    const limit = { maxOutputLength: UNPACKED_BYTES_MAX };
    return parseProfile(isZipped(bytes) ? gunzipSync(bytes, limit) : bytes);
  } catch (error) {
    const isTheirs = error instanceof ProfileError || isOfSystem(error);
    if (!isTheirs) throw error;
    throw new UsageError(
      `${name}: not a profile: ${error.message}\n  expected: the response of ` +
        '/debug/pprof/profile of a Go program, as kubediag profile --save writes it',
    );
  }
}

function adviceOf(error: unknown, path: string): unknown {
  return isOfSystem(error) ? new UsageError(`${path}: ${reasonOf(error, path)}`) : error;
}

/** Why a file cannot be used and what to do, without its name. */
export function reasonOf(error: unknown, path: string): string {
  const advice = diskAdvice(error, { isRoot: geteuid?.() === 0, instead: 'name another file' });
  // The path may be that of a parent directory.
  return advice ? `${advice.why.replace(`${path}: `, '')}; ${advice.todo}` : messageOf(error);
}

/** Errors of the disk and of zlib have a code. */
function isOfSystem(error: unknown): error is Error {
  return error instanceof Error && 'code' in error;
}
