import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { textOf } from '../../lib/std/text-codec.ts';
import { ReadError } from '../model/node-reader.ts';
import { FILE_BYTES_MAX } from './limits.ts';

/** No such file, no such process, or a parent that is no directory: gone while we looked. */
export const IS_GONE: ReadonlySet<string> = new Set(['ENOENT', 'ESRCH', 'ENOTDIR']);

/** What a process with more rights than ours hides. */
export const IS_DENIED: ReadonlySet<string> = new Set(['EACCES', 'EPERM']);

/** Reads, and gives undefined for the errors of the kernel that are no failure to the caller. */
export function unlessFailed<T>(codes: ReadonlySet<string>, read: () => T): T | undefined {
  return orCode(read, (code) => codes.has(code)).value;
}

export function unlessGone<T>(read: () => T): T | undefined {
  return unlessFailed(IS_GONE, read);
}

/** Reads, and gives the code of the kernel's error instead where the caller takes it as an answer. */
export function orCode<T>(
  read: () => T,
  isAnswer: (code: string) => boolean = () => true,
): { readonly value?: T; readonly code?: string } {
  try {
    return { value: read() };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== undefined && isAnswer(code)) return { code };
    throw error;
  }
}

/** Opens a plain file for as long as it is used, and nothing that only looks like one. */
export function withFile<T>(here: Buffer, path: string, use: (file: number) => T): T {
  // Checked before it is opened: opening some devices has an effect (a watchdog starts to count).
  if (!statSync(here).isFile()) throw notAFile(path);
  // Without O_NONBLOCK, a pipe put in its place since would make us wait for a writer.
  const file = openSync(here, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    if (!fstatSync(file).isFile()) throw notAFile(path);
    return use(file);
  } finally {
    closeSync(file);
  }
}

function notAFile(path: string): ReadError {
  return new ReadError('failed', path, 'it is not a file');
}

/** Larger than nearly all that is read, so that few files need more than one. */
const CHUNK_BYTES = 1024 * 1024;

/** Used for one file after another: fresh memory costs more than the kernel needs for a table. */
let spare: Buffer | undefined;

/**
 * All bytes of an open file, good until the next one is read. Files of /proc have no size, so they
 * are read until they end; and they come a page at a time, so a chunk is filled before the next one
 * is made.
 */
export function readToEnd(file: number, path: string): readonly Buffer[] {
  const full: Buffer[] = [];
  spare ??= Buffer.allocUnsafeSlow(CHUNK_BYTES);
  let chunk = spare;
  let filled = 0;
  for (let total = 0; total <= FILE_BYTES_MAX; ) {
    const length = readSync(file, chunk, filled, chunk.length - filled, null);
    if (length === 0) return [...full, chunk.subarray(0, filled)];
    total += length;
    filled += length;
    if (filled < chunk.length) continue;
    full.push(chunk);
    chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    filled = 0;
  }
  throw new ReadError('too-large', path, `more than ${FILE_BYTES_MAX} bytes`);
}

/**
 * A file of /proc as text. Node's own readFileSync takes 64 KiB of fresh memory for each of them, two
 * hundred megabytes for the processes of a full node.
 */
export function tableText(path: string): string {
  const file = openSync(path, 'r');
  try {
    const parts = readToEnd(file, path);
    return textOf(parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts));
  } finally {
    closeSync(file);
  }
}
