import { type ByteSource, Bytes, numberOf } from './byte-source.ts';
import { ELF_SECTIONS_MAX, ELF_SEGMENTS_MAX, NAME_BYTES_MAX, RELOCATIONS_MAX } from './limits.ts';

/** The parts of a 64-bit program or library that a symbol lookup needs. */
export interface Elf {
  readonly bytes: Bytes;
  /** The entry point, as a linked address. */
  readonly entry: number;
  readonly segments: readonly Segment[];
  readonly sections: readonly Section[];
}

/** A part of the file that is loaded into memory. */
export interface Segment {
  readonly offset: number;
  readonly address: number;
  readonly sizeBytes: number;
  /** Its pointers are relocated when the program is loaded, and its data changes at run time. */
  readonly isWritable: boolean;
}

export interface Section {
  readonly name: string;
  readonly type: number;
  readonly address: number;
  readonly offset: number;
  readonly sizeBytes: number;
  /** The index of an associated section. */
  readonly link: number;
}

const MAGIC = 0x464c457f;
const CLASS_64 = 2;
const LITTLE_ENDIAN = 1;
const LOADED = 1;
const WRITABLE = 2;
const SECTION_BYTES = 64;
const SEGMENT_BYTES = 56;

/** Undefined if the file is no 64-bit ELF; without sections if they were stripped. */
export function readElf(source: ByteSource): Elf | undefined {
  const bytes = new Bytes(source);
  const head = bytes.slice(0, 64);
  if (!head || numberOf(head, 0, 4) !== MAGIC) return undefined;
  if (head[4] !== CLASS_64 || head[5] !== LITTLE_ENDIAN) return undefined;
  const segments = segmentsOf(bytes, numberOf(head, 32, 8), numberOf(head, 56, 2));
  const sections = sectionsOf(bytes, numberOf(head, 40, 8), {
    count: numberOf(head, 60, 2),
    names: numberOf(head, 62, 2),
  });
  return { bytes, entry: numberOf(head, 24, 8), segments, sections };
}

function segmentsOf(bytes: Bytes, at: number, count: number): readonly Segment[] {
  const size = Math.min(count, ELF_SEGMENTS_MAX) * SEGMENT_BYTES;
  const table = bytes.slice(at, size) ?? new Uint8Array();
  const segments: Segment[] = [];
  for (let row = 0; row < table.length; row += SEGMENT_BYTES) {
    if (numberOf(table, row, 4) !== LOADED) continue;
    segments.push({
      offset: numberOf(table, row + 8, 8),
      address: numberOf(table, row + 16, 8),
      sizeBytes: numberOf(table, row + 32, 8),
      isWritable: (numberOf(table, row + 4, 4) & WRITABLE) !== 0,
    });
  }
  return segments;
}

function sectionsOf(
  bytes: Bytes,
  at: number,
  { count, names }: { readonly count: number; readonly names: number },
): readonly Section[] {
  const table = bytes.slice(at, Math.min(count, ELF_SECTIONS_MAX) * SECTION_BYTES)?.slice();
  if (!table || at === 0) return [];
  const namesAt = numberOf(table, names * SECTION_BYTES + 24, 8);
  const sections: Section[] = [];
  for (let row = 0; row < table.length; row += SECTION_BYTES) {
    sections.push({
      name: bytes.text(namesAt + numberOf(table, row, 4), NAME_BYTES_MAX) ?? '',
      type: numberOf(table, row + 4, 4),
      address: numberOf(table, row + 16, 8),
      offset: numberOf(table, row + 24, 8),
      sizeBytes: numberOf(table, row + 32, 8),
      link: numberOf(table, row + 40, 4),
    });
  }
  return sections;
}

/** The linked address of a file offset, independent of where the program is loaded. */
export function linkedAddress({ segments }: Elf, offset: number): number | undefined {
  const segment = segments.find((one) => {
    // The kernel maps whole pages, so a mapping may begin before its segment.
    const start = one.offset - (one.offset % PAGE_BYTES);
    return offset >= start && offset < one.offset + one.sizeBytes;
  });
  return segment && offset - segment.offset + segment.address;
}

const PAGE_BYTES = 4096;

const RELOCATIONS = 4;
const RELOCATION_BYTES = 24;

/**
 * The pointer at an address once the program is loaded. In a position-independent program the file
 * has a zero there, and its relocations have the pointer.
 */
function pointerInFile(elf: Elf, address: number): number | undefined {
  const segment = elf.segments.find(
    (one) => address >= one.address && address < one.address + one.sizeBytes,
  );
  const written = segment && elf.bytes.long(address - segment.address + segment.offset);
  if (written === undefined || written !== 0) return written;
  for (const { type, offset, sizeBytes } of elf.sections) {
    if (type !== RELOCATIONS) continue;
    const count = Math.min(Math.floor(sizeBytes / RELOCATION_BYTES), RELOCATIONS_MAX);
    const rows = elf.bytes.slice(offset, count * RELOCATION_BYTES) ?? new Uint8Array();
    for (let row = 0; row < rows.length; row += RELOCATION_BYTES) {
      if (numberOf(rows, row, 8) === address) return numberOf(rows, row + 16, 8);
    }
  }
  return undefined;
}

/** A program, read by linked addresses, independent of where it is loaded. */
export interface Program {
  readonly elf: Elf;
  readonly image: Bytes;
  /** The load bias that was added to the pointers at this address. */
  movedAt(address: number): number;
  /** The linked address that a pointer refers to; 0 for a null pointer. */
  pointerAt(address: number): number | undefined;
}

/** The memory of a process that runs the program. */
export interface ProgramMemory {
  /** The load address minus the linked address. */
  readonly bias: number;
  /** The bytes at an address of the process; fewer, or none, if the memory is not readable. */
  readonly read: (address: number, length: number) => Uint8Array;
}

export function programInFile(elf: Elf): Program {
  return {
    elf,
    image: imageOf(elf, (segment, address, length) => fileBytes(elf, segment, address, length)),
    movedAt: () => 0,
    pointerAt: (address) => pointerInFile(elf, address),
  };
}

/**
 * A running program. Read-only segments are read from the file; the others from the memory of the
 * process, where pointers are relocated.
 */
export function runningProgram(elf: Elf, { bias, read }: ProgramMemory): Program {
  const image = imageOf(elf, (segment, address, length) =>
    segment.isWritable ? read(address + bias, length) : fileBytes(elf, segment, address, length),
  );
  const movedAt = (address: number) => (segmentAt(elf, address)?.isWritable ? bias : 0);
  return {
    elf,
    image,
    movedAt,
    pointerAt: (address) => {
      const pointer = image.long(address);
      return pointer ? pointer - movedAt(address) : pointer;
    },
  };
}

type ReadSegment = (segment: Segment, address: number, length: number) => Uint8Array;

function imageOf(elf: Elf, read: ReadSegment): Bytes {
  const ends = elf.segments.map(endOf);
  const source: ByteSource = {
    sizeBytes: Math.max(0, ...ends),
    read: (address, length) => {
      const segment = segmentAt(elf, address);
      if (!segment) return new Uint8Array();
      return read(segment, address, Math.min(length, endOf(segment) - address));
    },
  };
  return new Bytes(source);
}

/** The kernel maps whole pages, so a segment may begin earlier in memory. */
function segmentAt({ segments }: Elf, address: number): Segment | undefined {
  return segments.find((one) => address >= startOf(one) && address < endOf(one));
}

function startOf({ address }: Segment): number {
  return address - (address % PAGE_BYTES);
}

function endOf({ address, sizeBytes }: Segment): number {
  return address + sizeBytes;
}

function fileBytes(elf: Elf, segment: Segment, address: number, length: number): Uint8Array {
  const offset = address - segment.address + segment.offset;
  return elf.bytes.slice(offset, Math.min(length, elf.bytes.sizeBytes - offset)) ?? NOTHING;
}

const NOTHING = new Uint8Array();
