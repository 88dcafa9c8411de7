import { type FileHandle, readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { GivenFile } from '../examine/given-file.ts';
import { FILES_MAX, TEXTS_BYTES_MAX } from '../examine/limits.ts';
import { ProfileError, parseProfile } from '../go/profile.ts';
import { functionsOf } from '../go/profile-top.ts';
import { textOf } from '../node/text-codec.ts';
import { readTar } from '../std/tar.ts';
import { reasonOf } from './given-file.ts';
import { type Hint, openGiven } from './given-stream.ts';
import { LOG_END_BYTES, LOG_END_BYTES_MIN } from './limits.ts';

/** A file that could not be read, and why: that is told beside those that could. */
export interface UnreadFile {
  readonly name: string;
  readonly why: string;
}

export interface ReadFiles {
  readonly files: readonly GivenFile[];
  readonly unread: readonly UnreadFile[];
}

/** Reads whatever a person names: files, folders of them, archives, compressed or not, or "-". */
export async function readGiven(paths: readonly string[], hint?: Hint): Promise<ReadFiles> {
  const files: GivenFile[] = [];
  const unread: UnreadFile[] = [];
  let bytesLeft = TEXTS_BYTES_MAX;
  for (const path of paths) {
    try {
      for (const name of await filesAt(path)) {
        const read = await bytesAt(name, bytesLeft, hint);
        const plain = unpacked(read.bytes, bytesLeft);
        bytesLeft -= plain.length;
        const texts = read.cut === undefined ? textsIn(nameOf(name), plain) : [endOf(name, read)];
        if (files.length + texts.length > FILES_MAX)
          throw new Error(`more than ${FILES_MAX} files`);
        files.push(...texts);
      }
    } catch (error) {
      unread.push({ name: path, why: reasonOf(error, path) });
    }
  }
  return { files, unread };
}

function nameOf(path: string): string {
  return path === '-' ? 'stdin' : path;
}

/** The path itself, or the files of the folder that it is, in their order. */
async function filesAt(path: string): Promise<readonly string[]> {
  if (path === '-' || !(await stat(path)).isDirectory()) return [path];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
}

interface ReadBytes {
  readonly bytes: Buffer;
  /** Where only the end was read: how much of how much. */
  readonly cut?: string;
}

async function bytesAt(path: string, bytesMax: number, hint: Hint | undefined): Promise<ReadBytes> {
  const given = await openGiven(path, hint);
  if ('pieces' in given) return { bytes: await bytesOf(given.pieces, bytesMax) };
  const { file, sizeBytes } = given;
  try {
    if (sizeBytes > bytesMax) return await endOfLog(file, sizeBytes, bytesMax);
    // Files that the kernel makes up claim to be empty.
    if (sizeBytes > 0) return { bytes: await bytesFrom(file, 0, sizeBytes) };
    return { bytes: await bytesOf(file.createReadStream({ autoClose: false }), bytesMax) };
  } finally {
    await file.close();
  }
}

/**
 * Of a log only the end matters: what is wrong now is written there. What is packed or binary makes no
 * sense without its beginning. Half of what may be read is left for the files that follow.
 */
async function endOfLog(file: FileHandle, sizeBytes: number, bytesMax: number): Promise<ReadBytes> {
  const length = Math.min(LOG_END_BYTES, Math.floor(bytesMax / 2));
  const beginning = await bytesFrom(file, 0, TAR_HEADER_BYTES);
  const isText = !isZipped(beginning) && !isTar(beginning) && !isBinary(beginning);
  if (!isText || length < LOG_END_BYTES_MIN) throw tooLarge();
  const bytes = await bytesFrom(file, sizeBytes - length, length);
  const nextLine = bytes.indexOf('\n') + 1;
  const cut = `only its last ${mebibytes(length)} of ${mebibytes(sizeBytes)} MiB were read`;
  return { bytes: bytes.subarray(nextLine), cut };
}

async function bytesFrom(file: FileHandle, start: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  let filled = 0;
  for (let more = 1; more > 0 && filled < length; filled += more) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, start + filled);
    more = bytesRead;
  }
  return bytes.subarray(0, filled);
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}

/** Its lines are counted from where the reading began, and its name says so. */
function endOf(path: string, { bytes, cut = '' }: ReadBytes): GivenFile {
  return { name: `${basename(path)} (end)`, text: plainText(bytes), cut };
}

async function bytesOf(stream: AsyncIterable<unknown>, bytesMax: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of stream) {
    pieces.push(piece as Buffer);
    length += (piece as Buffer).length;
    if (length > bytesMax) throw tooLarge();
  }
  return Buffer.concat(pieces);
}

function unpacked(bytes: Buffer, bytesMax: number): Buffer {
  if (!isZipped(bytes)) return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: bytesMax });
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge() : error;
  }
}

function isZipped(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

function tooLarge(): Error {
  const limit = `all files together may have ${TEXTS_BYTES_MAX} bytes, unpacked`;
  return new Error(`${limit}; send the part that matters, or fewer files at once`);
}

/** The texts in these bytes: one, or as many as an archive holds. */
export function textsOf(name: string, bytes: Buffer): readonly GivenFile[] {
  return textsIn(name, unpacked(bytes, TEXTS_BYTES_MAX));
}

function textsIn(name: string, plain: Buffer): readonly GivenFile[] {
  const entries = isTar(plain) ? readTar(plain) : undefined;
  if (!entries) return [textOfFile(name, plain)];
  if (entries.some((entry) => entry.name === 'answers.jsonl')) {
    const takenFor = `a bundle of a check, which is judged by: kubediag replay ${name}`;
    return [{ name: basename(name), text: '', takenFor }];
  }
  return entries
    .filter(({ content }) => content.length > 0)
    .map((entry) => ({
      name: `${basename(name)}:${entry.name.replace(/^\.\//, '')}`,
      text: plainText(Buffer.from(entry.content)),
    }));
}

function textOfFile(name: string, bytes: Buffer): GivenFile {
  const profile = isBinary(bytes) ? profileIn(bytes) : undefined;
  if (profile === undefined) return { name: basename(name), text: plainText(bytes) };
  const seen = `a profile: ${profile}; see kubediag profile kubelet --file ${name}`;
  return { name: basename(name), text: '', takenFor: seen };
}

/** Texts have no other control characters than those that move on a line. */
function isBinary(bytes: Buffer): boolean {
  const BEGINNING_BYTES = 1_000;
  const isWide = bytes[0] === 0xff && bytes[1] === 0xfe;
  return !isWide && bytes.subarray(0, BEGINNING_BYTES).some((byte) => byte < 9);
}

/** What a profile measured, and what took the most of it. */
function profileIn(bytes: Buffer): string | undefined {
  try {
    const profile = parseProfile(bytes);
    const { measure, unit, total } = profile;
    const [most] = functionsOf(profile);
    const share = most && total > 0 ? Math.round((100 * most.flat) / total) : 0;
    return `${measure} in ${unit}${most ? `, ${share} % of it in ${most.function}` : ''}`;
  } catch (error) {
    if (error instanceof ProfileError) return undefined;
    throw error;
  }
}

const TAR_HEADER_BYTES = 512;

function isTar(bytes: Buffer): boolean {
  return bytes.toString('latin1', 257, 262) === 'ustar';
}

// "\x1b[0;31m", as tools colour their words
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what a terminal is told.
const COLOUR = /\x1b\[[0-9;]*[A-Za-z]/g;

/** As it was before it went through another system, a chat or a terminal. */
function plainText(bytes: Buffer): string {
  // PowerShell writes what it redirects in sixteen bits.
  const isWide = bytes[0] === 0xff && bytes[1] === 0xfe;
  const text = isWide ? bytes.toString('utf16le') : textOf(bytes);
  return text
    .replace(/^\ufeff/, '')
    .replaceAll('\r\n', '\n')
    .replace(COLOUR, '');
}
