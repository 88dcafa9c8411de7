export interface TarEntry {
  readonly name: string;
  readonly content: Uint8Array;
}

/** A file to write: readable for all users by default; a link has no content. */
export interface WrittenEntry extends TarEntry {
  readonly mode?: number;
  readonly linkTo?: string;
}

const BLOCK_BYTES = 512;
const NAME_BYTES_MAX = 100;

/**
 * Writes files and links with short names in the ustar format, the same bytes for the same entries:
 * no owner, no time of day, nothing of the machine it was made on.
 */
export function writeTar(entries: readonly WrittenEntry[]): Uint8Array {
  const blocks = entries.flatMap((entry) => [header(entry), padded(entry.content)]);
  return concatBytes([...blocks, new Uint8Array(2 * BLOCK_BYTES)]);
}

/** Reads regular files; undefined if the archive is incomplete or damaged. */
export function readTar(archive: Uint8Array): readonly TarEntry[] | undefined {
  const entries: TarEntry[] = [];
  for (let at = 0; at + BLOCK_BYTES <= archive.length; ) {
    const block = archive.subarray(at, at + BLOCK_BYTES);
    if (block.every((byte) => byte === 0)) return entries;
    const sizeBytes = octalAt(block, 124, 12);
    const isSound = octalAt(block, 148, 8) === checksum(block) && sizeBytes >= 0;
    const start = at + BLOCK_BYTES;
    if (!isSound || start + sizeBytes > archive.length) return undefined;
    const isFile = block[156] === 0x30 || block[156] === 0;
    if (isFile) {
      entries.push({
        name: asciiAt(block, 0, 100),
        content: archive.subarray(start, start + sizeBytes),
      });
    }
    at = start + Math.ceil(sizeBytes / BLOCK_BYTES) * BLOCK_BYTES;
  }
  return undefined;
}

function header({ name, content, mode = 0o644, linkTo = '' }: WrittenEntry): Uint8Array {
  for (const text of [name, linkTo]) {
    if (text.length > NAME_BYTES_MAX) throw new RangeError(`${text} is too long for an archive`);
  }
  const block = new Uint8Array(BLOCK_BYTES);
  put(block, 0, name);
  put(block, 100, `${octal(mode, 7)}\0`);
  put(block, 108, '0000000\0');
  put(block, 116, '0000000\0');
  put(block, 124, `${octal(content.length, 11)}\0`);
  put(block, 136, `${octal(0, 11)}\0`);
  put(block, 156, linkTo === '' ? '0' : '2');
  put(block, 157, linkTo);
  put(block, 257, 'ustar\x0000');
  put(block, 148, `${octal(checksum(block), 6)}\0 `);
  return block;
}

function padded(content: Uint8Array): Uint8Array {
  const block = new Uint8Array(Math.ceil(content.length / BLOCK_BYTES) * BLOCK_BYTES);
  block.set(content);
  return block;
}

/** The sum of all bytes of a header, with its own field read as spaces. */
function checksum(block: Uint8Array): number {
  return block.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 0x20 : byte), 0);
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}

function octalAt(block: Uint8Array, at: number, length: number): number {
  const text = asciiAt(block, at, length).trim();
  return /^[0-7]+$/.test(text) ? Number.parseInt(text, 8) : -1;
}

function asciiAt(block: Uint8Array, at: number, length: number): string {
  const end = block.indexOf(0, at);
  const stop = end < 0 || end > at + length ? at + length : end;
  return String.fromCharCode(...block.subarray(at, stop));
}

function put(block: Uint8Array, at: number, text: string): void {
  for (let index = 0; index < text.length; index += 1) block[at + index] = text.charCodeAt(index);
}

function concatBytes(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
