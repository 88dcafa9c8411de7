import { closeSync, openSync, readFileSync, readlinkSync, readSync } from 'node:fs';
import { textOf } from '../../lib/std/text-codec.ts';
import { PATH_BYTES_MAX } from './limits.ts';
import { orCode } from './read-file.ts';

/**
 * Reads the memory of a process, but only where that is anonymous or its own executable. A page that
 * is mapped from a file on a dead mount would hang the read, unkillably, and with it the memory lock
 * of the process, so the process as well.
 */
export class ProcessMemory {
  readonly #file: number;
  readonly #ranges: readonly Range[];

  /** Of "/proc/812"; throws the kernel's error where the memory is not ours to read. */
  constructor(process: string) {
    const program = readlinkSync(`${process}/exe`);
    this.#ranges = rangesIn(readFileSync(`${process}/maps`, 'utf8'), program);
    this.#file = openSync(`${process}/mem`, 'r');
  }

  close(): void {
    closeSync(this.#file);
  }

  /** Fewer bytes at the end of a range; none where nothing may be read, or is mapped any more. */
  read(address: number, length: number): Uint8Array {
    const range = this.#ranges.find(({ start, end }) => address >= start && address < end);
    if (!range) return NOTHING;
    const bytes = Buffer.allocUnsafe(Math.min(length, range.end - address));
    const read = orCode(() => readSync(this.#file, bytes, 0, bytes.length, address)).value;
    return bytes.subarray(0, read ?? 0);
  }

  /** Eight bytes as a number; beyond 2^53 it is not exact, and no address lies there. */
  longAt(address: number): number | undefined {
    const bytes = this.read(address, 8);
    return bytes.length === 8
      ? Number(Buffer.from(bytes.buffer, bytes.byteOffset, 8).readBigUInt64LE())
      : undefined;
  }

  /** The text at an address, up to its NUL; null when it cannot be read, or is no path. */
  pathAt(address: number): string | null {
    const bytes = Buffer.from(this.read(address, PATH_BYTES_MAX));
    const end = bytes.indexOf(0);
    return end > 0 ? textOf(bytes.subarray(0, end)) : null;
  }
}

const NOTHING = new Uint8Array();

interface Range {
  readonly start: number;
  readonly end: number;
}

// c000000000-c000400000 rw-p 00000000 00:00 0
// 00400000-02a4c000 r-xp 00000000 fe:01 131589                     /usr/bin/kubelet
// 7ffd3a5f2000-7ffd3a5f6000 r--p 00000000 00:00 0                  [vvar]
const LINE = /^(\w+)-(\w+) r\S+ \S+ \S+ (\d+) *(.*)$/gm;

function rangesIn(maps: string, program: string): readonly Range[] {
  const ranges: Range[] = [];
  for (const [, start = '', end = '', inode, name = ''] of maps.matchAll(LINE)) {
    // [vvar] and [vdso] are pages of the kernel, some of which cannot be read. A file may have the
    // inode 0 too: what is anonymous has no name, or one in brackets.
    const isAnonymous = inode === '0' && /^(?:|\[(?!v).*\])$/.test(name);
    const isOwn = isAnonymous || name === program;
    if (isOwn) ranges.push({ start: Number.parseInt(start, 16), end: Number.parseInt(end, 16) });
  }
  return ranges;
}
