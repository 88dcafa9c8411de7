import { type ByteSource, Bytes } from './byte-source.ts';
import { type Elf, PAGE_BYTES, pointerAt, type Segment } from './elf.ts';

/** A program by the addresses for which it was linked, wherever it is loaded. */
export interface Program {
  readonly elf: Elf;
  readonly image: Bytes;
  /** How far the pointers that stand at this address were moved when the program was loaded. */
  movedAt(address: number): number;
  /** The linked address that a pointer leads to; 0 for one that leads nowhere. */
  pointerAt(address: number): number | undefined;
}

/** The memory of a process that runs the program. */
export interface ProgramMemory {
  /** By how much it is loaded above the addresses for which it was linked. */
  readonly bias: number;
  /** The bytes at an address of the process; fewer, or none, where it may not be read. */
  readonly read: (address: number, length: number) => Uint8Array;
}

/** The program as its file has it. */
export function programInFile(elf: Elf): Program {
  return {
    elf,
    image: imageOf(elf, (segment, address, length) => fileBytes(elf, segment, address, length)),
    movedAt: () => 0,
    pointerAt: (address) => pointerAt(elf, address),
  };
}

/**
 * The program as a process runs it. What is never written is read from the file; the rest from its
 * memory, where the pointers are those of the process.
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

/** The kernel loads whole pages, so a segment begins a little earlier in memory. */
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
