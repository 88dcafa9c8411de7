import { type FileHandle, readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { functionsOf, ProfileError, parseProfile } from '../../../lib/go/profile.ts';
import { readTar } from '../../../lib/std/tar.ts';
import { textOf } from '../../../lib/std/text-codec.ts';
import { FILES_MAX, TEXTS_BYTES_MAX } from '../../../node/examine/limits.ts';
import type { GivenFile } from '../../../node/examine/part.ts';
import { LOG_END_BYTES, LOG_END_BYTES_MIN } from '../limits.ts';
import { reasonOf } from './given-file.ts';
import { type Hint, openGiven } from './given-stream.ts';
import { StreamEnd } from './stream-end.ts';
import { isZipped, plainPieces, unpackedPieces } from './unpacked-pieces.ts';

/** Enough to recognize a file: the header of an archive has half as many. */
const BEGINNING_BYTES = 1_000;

/** A file that could not be read, and why. */
export interface UnreadFile {
  readonly name: string;
  readonly why: string;
}

export interface ReadFiles {
  readonly files: readonly GivenFile[];
  readonly unread: readonly UnreadFile[];
}

/** Reads files, directories and archives, compressed or not; "-" is standard input. */
export async function readGiven(paths: readonly string[], hint?: Hint): Promise<ReadFiles> {
  const files: GivenFile[] = [];
  const unread: UnreadFile[] = [];
  let bytesLeft = TEXTS_BYTES_MAX;
  for (const path of paths) {
    try {
      for (const name of await filesAt(path)) {
        const read = await bytesAt(name, bytesLeft, hint);
        bytesLeft -= read.bytes.length;
        const texts =
          read.cut === undefined ? textsOf(nameOf(name), read.bytes) : [endOf(name, read)];
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

/** The path itself; of a directory, its files in order. */
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
  /** If only the end was read: how much of how much. */
  readonly cut?: string;
}

async function bytesAt(path: string, bytesMax: number, hint: Hint | undefined): Promise<ReadBytes> {
  const given = await openGiven(path, hint);
  if ('pieces' in given) return wholeOrEnd(plainPieces(given.pieces), bytesMax);
  const { file, sizeBytes } = given;
  try {
    const pieces = () => file.createReadStream({ start: 0, autoClose: false });
    // Files in /proc claim to be empty.
    if (sizeBytes === 0) return await wholeOrEnd(pieces(), bytesMax);
    const beginning = await bytesFrom(file, 0, BEGINNING_BYTES);
    if (isZipped(beginning)) return await wholeOrEnd(unpackedPieces(pieces()), bytesMax);
    if (sizeBytes <= bytesMax) return { bytes: await bytesFrom(file, 0, sizeBytes) };
    const length = endLength(beginning, bytesMax);
    return fromNextLine(await bytesFrom(file, sizeBytes - length, length), sizeBytes);
  } finally {
    await file.close();
  }
}

/** All of a stream, or the end of a larger one; no more than that is in memory. */
async function wholeOrEnd(pieces: AsyncIterable<Uint8Array>, bytesMax: number): Promise<ReadBytes> {
  const end = new StreamEnd();
  let length: number | undefined;
  for await (const piece of pieces) {
    end.add(piece);
    if (end.totalBytes > bytesMax) length ??= endLength(end.beginning(BEGINNING_BYTES), bytesMax);
    if (length !== undefined) end.keepLast(length);
  }
  const bytes = end.bytes();
  if (length === undefined) return { bytes };
  return fromNextLine(bytes.subarray(bytes.length - length), end.totalBytes);
}

/**
 * The end of a log matters most: it shows the current problem. Archives and binary files are useless
 * without their beginning. Half of the limit is left for the files that follow.
 */
function endLength(beginning: Buffer, bytesMax: number): number {
  const length = Math.min(LOG_END_BYTES, Math.floor(bytesMax / 2));
  const isText = !isTar(beginning) && !isBinary(beginning);
  if (!isText || length < LOG_END_BYTES_MIN) throw tooLarge();
  return length;
}

function fromNextLine(bytes: Buffer, sizeBytes: number): ReadBytes {
  const read = mebibytes(bytes.length);
  const cut = `only its last ${read} of ${mebibytes(sizeBytes)} MiB were read`;
  return { bytes: bytes.subarray(bytes.indexOf('\n') + 1), cut };
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

/** Its name says that line numbers count from the place where reading began. */
function endOf(path: string, { bytes, cut = '' }: ReadBytes): GivenFile {
  return { name: `${basename(nameOf(path))} (end)`, text: plainText(bytes), cut };
}

function tooLarge(): Error {
  const limit = `all files together may have ${TEXTS_BYTES_MAX} bytes, unpacked`;
  return new Error(`${limit}; send the part that matters, or fewer files at once`);
}

/** The texts in unpacked bytes: one, or as many as an archive holds. */
export function textsOf(name: string, plain: Buffer): readonly GivenFile[] {
  const entries = isTar(plain) ? readTar(plain) : undefined;
  if (!entries) return [textOfFile(name, plain)];
  if (entries.some((entry) => entry.name === 'answers.jsonl')) {
    const detectedAs = `a bundle of a check, which is judged by: kubediag replay ${name}`;
    return [{ name: basename(name), text: '', detectedAs }];
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
  return { name: basename(name), text: '', detectedAs: seen };
}

/** Texts have no other control characters than those that move on a line. */
function isBinary(bytes: Buffer): boolean {
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

function isTar(bytes: Buffer): boolean {
  return bytes.toString('latin1', 257, 262) === 'ustar';
}

// "\x1b[0;31m", as tools colour their words
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what a terminal gets.
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
