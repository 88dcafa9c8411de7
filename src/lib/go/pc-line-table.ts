import { type Bytes, lastRowAtMost, numberOf } from './byte-source.ts';
import { type Elf, linkedAddress, type Program } from './elf.ts';
import {
  FRAME_PAIRS_MAX,
  FUNCTIONS_MAX,
  NAME_BYTES_MAX,
  PC_TABLE_SEARCH_BYTES_MAX,
} from './limits.ts';

/**
 * The table that maps addresses to functions in every Go program. A stripped program has it too,
 * because the garbage collector needs it.
 */
export interface PcLineTable {
  /** The function at a linked address. */
  readonly functionAt: (address: number) => GoFunction | undefined;
}

export interface GoFunction {
  readonly name: string;
  /** Bytes from its first instruction to the requested address. */
  readonly offset: number;
  /**
   * Bytes from the stack pointer to the return address while the program is at this address. Read
   * on demand; undefined if the table does not contain it.
   */
  frameBytes(): number | undefined;
}

/** The layout of the table, which Go has changed three times, with linked addresses. */
interface Layout {
  readonly count: number;
  /** The base of the addresses in the table. */
  readonly textStart: number;
  readonly namesAt: number;
  readonly rowsAt: number;
  /** The base of the offsets of function records in the rows. */
  readonly recordsAt: number;
  /** The address of the frame sizes. */
  readonly framesAt: number;
  /** The bytes of one number in a row. */
  readonly width: 4 | 8;
  /** The bytes of the smallest instruction, the unit of the ranges of frame sizes. */
  readonly step: number;
}

const GO_1_2 = 0xfffffffb;
const GO_1_16 = 0xfffffffa;
const GO_1_18 = 0xfffffff0;
const GO_1_20 = 0xfffffff1;
const MAGICS = [GO_1_20, GO_1_18, GO_1_16, GO_1_2];

// .gopclntab, and .data.rel.ro.gopclntab where the program may be loaded anywhere
const SECTION = /^(\.data\.rel\.ro)?\.gopclntab$/;

export function readPcLineTable(program: Program): PcLineTable | undefined {
  const { elf } = program;
  const section = elf.sections.find(({ name }) => SECTION.test(name));
  const at = section?.address ?? placeByMagic(elf);
  if (at === undefined) return undefined;
  const layout = layoutAt(program, at);
  if (!layout || layout.count === 0 || layout.count > FUNCTIONS_MAX) return undefined;
  return { functionAt: (address) => functionIn(program, layout, address) };
}

function layoutAt(program: Program, at: number): Layout | undefined {
  const { image } = program;
  const magic = image.word(at);
  if (magic === undefined || !isHead(image, at)) return undefined;
  const field = (number: number) => image.long(at + 8 + number * 8) ?? Number.NaN;
  const [count, step] = [field(0), image.byte(at + 6) ?? 1];
  if (magic === GO_1_2) {
    // All offsets are relative to the header.
    const places = { namesAt: at, rowsAt: at + 16, recordsAt: at, framesAt: at };
    return { count, step, textStart: 0, ...places, width: 8 };
  }
  // Since Go 1.18 the start of the text comes before the other offsets.
  const [first, width] = magic === GO_1_16 ? ([2, 8] as const) : ([3, 4] as const);
  const rowsAt = at + field(first + 4);
  const places = { namesAt: at + field(first), rowsAt, recordsAt: rowsAt };
  const framesAt = at + field(first + 3);
  const textStart = width === 8 ? 0 : textStartOf(program, at, places.namesAt);
  return textStart === undefined
    ? undefined
    : { count, step, textStart, ...places, framesAt, width };
}

/**
 * The address of the first Go function. Up to Go 1.25 the header of the table has it; since then,
 * moduledata, whose first word is the address of the table. The start of the code section would be
 * wrong for a program with C code, which comes first there.
 */
function textStartOf(program: Program, table: number, names: number): number | undefined {
  const { sections } = program.elf;
  const inHead = program.pointerAt(table + 24);
  if (inHead) return inHead;
  const module = sections.find(({ name }) => name === '.go.module')?.address;
  const isModule = module !== undefined && program.pointerAt(module) === table;
  const at = isModule ? module : moduleByPointers(program, table, names);
  if (at !== undefined) return program.pointerAt(at + MODULE_TEXT);
  const hasC = sections.some(({ name }) => name === '.init');
  return hasC ? undefined : sections.find(({ name }) => name === '.text')?.address;
}

/** The offset in moduledata: after a pointer, six slices, a pointer and two addresses. */
const MODULE_TEXT = 22 * 8;

/** The C linker puts moduledata among other data; it begins with these two pointers. */
function moduleByPointers(program: Program, table: number, names: number): number | undefined {
  const { elf, image } = program;
  for (const { name, address, sizeBytes } of elf.sections) {
    if (name !== '.noptrdata' && name !== '.data') continue;
    const bytes =
      image.slice(address, Math.min(sizeBytes, PC_TABLE_SEARCH_BYTES_MAX)) ?? new Uint8Array();
    const first = table + program.movedAt(address);
    for (let at = 0; at + 16 <= bytes.length; at += 8) {
      // Comparing the lowest byte first is fast.
      if (bytes[at] !== (first & 0xff) || numberOf(bytes, at, 8) !== first) continue;
      if (program.pointerAt(address + at + 8) === names) return address + at;
    }
  }
  return undefined;
}

/** f1 ff ff ff 00 00 01 08: magic, two zeroes, instruction size, pointer size. */
function isHead(bytes: Bytes, at: number): boolean {
  const head = bytes.slice(at, 8);
  if (!head || !MAGICS.includes(bytes.word(at) ?? 0)) return false;
  return head[4] === 0 && head[5] === 0 && [1, 2, 4].includes(head[6] ?? 0) && head[7] === 8;
}

/**
 * Searches for a table without its own section: in the read-only data of a position-independent
 * program from the C linker, and everywhere in a program without sections.
 */
function placeByMagic(elf: Elf): number | undefined {
  const { bytes, sections } = elf;
  const data = sections.find(({ name }) => name === '.data.rel.ro');
  if (sections.length > 0 && !data) return undefined;
  const from = data?.offset ?? 0;
  const sizeBytes = Math.min(data?.sizeBytes ?? bytes.sizeBytes, PC_TABLE_SEARCH_BYTES_MAX);
  const end = Math.min(from + sizeBytes, bytes.sizeBytes);
  for (let start = from; start < end; start += STEP_BYTES) {
    const piece = bytes.slice(start, Math.min(STEP_BYTES, end - start));
    if (!piece) return undefined;
    for (let at = 0; at < piece.length; at += TABLE_ALIGNMENT) {
      // Compare the last three bytes, which every magic shares, before the complete header.
      if (piece[at + 1] !== 0xff || piece[at + 2] !== 0xff || piece[at + 3] !== 0xff) continue;
      if (isHead(bytes, start + at)) return linkedAddress(elf, start + at);
    }
  }
  return undefined;
}

/** The alignment of the table. */
const TABLE_ALIGNMENT = 32;
const STEP_BYTES = 1024 * 1024;

function functionIn(program: Program, layout: Layout, address: number): GoFunction | undefined {
  const { image } = program;
  const { count, textStart, rowsAt, width, namesAt, recordsAt } = layout;
  const number = (place: number) => (width === 4 ? image.word(place) : image.long(place));
  // Rows of old tables have absolute addresses, which were relocated with the program.
  const moved = width === 4 ? 0 : program.movedAt(rowsAt);
  const startOf = (row: number) => (number(rowsAt + row * 2 * width) ?? Number.NaN) - moved;
  const wanted = address - textStart;
  if (!(wanted >= startOf(0) && wanted < startOf(count))) return undefined;
  const row = lastRowAtMost(wanted, count, startOf);
  if (row < 0) return undefined;
  const place = number(rowsAt + row * 2 * width + width);
  if (place === undefined) return undefined;
  // A function record: address, name, two other numbers, frame sizes.
  const record = recordsAt + place + width;
  const [name, frames] = [image.word(record), image.word(record + 12)];
  const text = name === undefined ? undefined : image.text(namesAt + name, NAME_BYTES_MAX);
  if (text === undefined || frames === undefined) return undefined;
  const offset = wanted - startOf(row);
  const frameBytes = () => (frames === 0 ? 0 : frameSizeAt(image, layout, frames, offset));
  return { name: text, offset, frameBytes };
}

/**
 * Frame sizes are pairs of varints: the change of the size (zigzag), and the number of instructions
 * with this size. The first size is -1.
 */
function frameSizeAt(
  image: Bytes,
  { framesAt, step }: Layout,
  place: number,
  offset: number,
): number | undefined {
  let [at, size, end] = [framesAt + place, -1, 0];
  const varint = () => {
    let value = 0;
    for (let shift = 0; shift <= 28; shift += 7) {
      const byte = image.byte(at++);
      if (byte === undefined) return undefined;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    return undefined;
  };
  for (let pairs = 0; pairs < FRAME_PAIRS_MAX; pairs += 1) {
    const change = varint();
    if (change === undefined || (change === 0 && end > 0)) return undefined;
    const length = varint();
    if (length === undefined) return undefined;
    size += change % 2 === 0 ? change / 2 : -(change + 1) / 2;
    end += length * step;
    if (offset < end) return size;
  }
  return undefined;
}
