import { textOfBytes } from './utf8.ts';

/** A file that is read in pieces: a kubelet has a hundred megabytes, and we need only a few. */
export interface ByteSource {
  readonly sizeBytes: number;
  /** The bytes at this offset; fewer than `length` at the end of the file. */
  read(offset: number, length: number): Uint8Array;
}

/** Numbers of a file in little-endian order, which x64 and arm64 use. */
export class Bytes {
  readonly #source: ByteSource;
  #chunk: Uint8Array = new Uint8Array();
  #chunkAt = 0;

  constructor(source: ByteSource) {
    this.#source = source;
  }

  get sizeBytes(): number {
    return this.#source.sizeBytes;
  }

  /** Exactly `length` bytes, or undefined: a table of a truncated file is not used. */
  slice(offset: number, length: number): Uint8Array | undefined {
    if (!(offset >= 0 && length >= 0 && offset + length <= this.sizeBytes)) return undefined;
    if (length > CHUNK_BYTES) {
      const bytes = this.#source.read(offset, length);
      return bytes.length === length ? bytes : undefined;
    }
    if (offset < this.#chunkAt || offset + length > this.#chunkAt + this.#chunk.length) {
      this.#chunkAt = offset - (offset % ALIGN_BYTES);
      this.#chunk = this.#source.read(this.#chunkAt, CHUNK_BYTES + ALIGN_BYTES);
    }
    const at = offset - this.#chunkAt;
    return at + length <= this.#chunk.length ? this.#chunk.subarray(at, at + length) : undefined;
  }

  byte(offset: number): number | undefined {
    return this.slice(offset, 1)?.[0];
  }

  word(offset: number): number | undefined {
    const bytes = this.slice(offset, 4);
    return bytes && numberOf(bytes, 0, 4);
  }

  /** A number of eight bytes, inexact beyond 2^53, where no program has an address. */
  long(offset: number): number | undefined {
    const bytes = this.slice(offset, 8);
    return bytes && numberOf(bytes, 0, 8);
  }

  /** The text up to the first zero byte; undefined if there is none within the limit. */
  text(offset: number, lengthMax: number): string | undefined {
    const bytes = this.slice(offset, Math.min(lengthMax, this.sizeBytes - offset));
    const end = bytes?.indexOf(0) ?? -1;
    return bytes && end >= 0 ? textOfBytes(bytes, 0, end) : undefined;
  }
}

const CHUNK_BYTES = 16 * 1024;
const ALIGN_BYTES = 4 * 1024;

/** The last row whose number is at most `wanted`; -1 if there is none, or a row is unreadable. */
export function lastRowAtMost(
  wanted: number,
  count: number,
  numberAt: (row: number) => number,
): number {
  let low = -1;
  let high = count;
  while (high - low > 1) {
    const middle = low + Math.floor((high - low) / 2);
    const number = numberAt(middle);
    if (Number.isNaN(number)) return -1;
    if (number <= wanted) low = middle;
    else high = middle;
  }
  return low;
}

export function numberOf(bytes: Uint8Array, at: number, length: number): number {
  let value = 0;
  for (let index = at + length - 1; index >= at; index -= 1) {
    value = value * 256 + (bytes[index] ?? 0);
  }
  return value;
}
