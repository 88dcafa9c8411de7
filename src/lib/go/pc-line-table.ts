import { type Bytes, lastRowAtMost, numberOf } from './byte-source.ts';
import { type Elf, linkedAddress, type Program } from './elf.ts';
import {
  FRAME_PAIRS_MAX,
  FUNCTIONS_MAX,
  NAME_BYTES_MAX,
  PC_TABLE_SEARCH_BYTES_MAX,
} from './limits.ts';

/**
 * The table by which every Go program knows the functions of its own stacks. It is there in a
 * stripped program too, because the garbage collector cannot do without it.
 */
export interface PcLineTable {
  /** The function at an address for which the program was linked. */
  readonly functionAt: (address: number) => GoFunction | undefined;
}

export interface GoFunction {
  readonly name: string;
  /** From its first instruction to the address that was asked for. */
  readonly offset: number;
  /**
   * Bytes from the stack pointer to the return address, when the program is at that address. Read
   * only when it is asked for; undefined where the table does not say.
   */
  frameBytes(): number | undefined;
}

/** How the table is laid out; Go has changed it three times. All places are linked addresses. */
interface Layout {
  readonly count: number;
  /** What the addresses in the table are counted from. */
  readonly textStart: number;
  readonly namesAt: number;
  readonly rowsAt: number;
  /** What the places of the functions' records in the rows are counted from. */
  readonly recordsAt: number;
  /** Where the sizes of frames are. */
  readonly framesAt: number;
  /** Bytes of one number in a row of the table. */
  readonly width: 4 | 8;
  /** Bytes of the smallest instruction: sizes of frames are listed in steps of it. */
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
    // All is counted from the head.
    const places = { namesAt: at, rowsAt: at + 16, recordsAt: at, framesAt: at };
    return { count, step, textStart: 0, ...places, width: 8 };
  }
  // Since Go 1.18 the start of the text stands in front of the other places.
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
 * Where the functions of Go begin. The table's head says it up to Go 1.25. Since then the program's
 * own description does, which Go calls moduledata; its first word is the address of the table. Where
 * C is linked in, the code section begins with that, and would give every function another's name.
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

/** After a pointer, six slices, a pointer and two addresses of eight bytes each. */
const MODULE_TEXT = 22 * 8;

/** Linked by C's linker, moduledata lies among other data: it begins with these two pointers. */
function moduleByPointers(program: Program, table: number, names: number): number | undefined {
  const { elf, image } = program;
  for (const { name, address, sizeBytes } of elf.sections) {
    if (name !== '.noptrdata' && name !== '.data') continue;
    const bytes =
      image.slice(address, Math.min(sizeBytes, PC_TABLE_SEARCH_BYTES_MAX)) ?? new Uint8Array();
    const first = table + program.movedAt(address);
    for (let at = 0; at + 16 <= bytes.length; at += 8) {
      // The lowest byte decides almost always, and costs little.
      if (bytes[at] !== (first & 0xff) || numberOf(bytes, at, 8) !== first) continue;
      if (program.pointerAt(address + at + 8) === names) return address + at;
    }
  }
  return undefined;
}

/** f1 ff ff ff 00 00 01 08: the magic, two zeroes, bytes of an instruction and of an address. */
function isHead(bytes: Bytes, at: number): boolean {
  const head = bytes.slice(at, 8);
  if (!head || !MAGICS.includes(bytes.word(at) ?? 0)) return false;
  return head[4] === 0 && head[5] === 0 && [1, 2, 4].includes(head[6] ?? 0) && head[7] === 8;
}

/**
 * Without a section of its own the table is looked for: among the read-only data of a program that
 * may be loaded anywhere and was linked by C's linker, and everywhere where there are no sections.
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
      // The last three bytes of each magic; a whole head is asked for only where they stand.
      if (piece[at + 1] !== 0xff || piece[at + 2] !== 0xff || piece[at + 3] !== 0xff) continue;
      if (isHead(bytes, start + at)) return linkedAddress(elf, start + at);
    }
  }
  return undefined;
}

/** The table begins at a multiple of this. */
const TABLE_ALIGNMENT = 32;
const STEP_BYTES = 1024 * 1024;

function functionIn(program: Program, layout: Layout, address: number): GoFunction | undefined {
  const { image } = program;
  const { count, textStart, rowsAt, width, namesAt, recordsAt } = layout;
  const number = (place: number) => (width === 4 ? image.word(place) : image.long(place));
  // Rows of old tables hold whole addresses, which were moved with the program.
  const moved = width === 4 ? 0 : program.movedAt(rowsAt);
  const startOf = (row: number) => (number(rowsAt + row * 2 * width) ?? Number.NaN) - moved;
  const wanted = address - textStart;
  if (!(wanted >= startOf(0) && wanted < startOf(count))) return undefined;
  const row = lastRowAtMost(wanted, count, startOf);
  if (row < 0) return undefined;
  const place = number(rowsAt + row * 2 * width + width);
  if (place === undefined) return undefined;
  // A function's record: its address, then its name, two other numbers, the sizes of its frame.
  const record = recordsAt + place + width;
  const [name, frames] = [image.word(record), image.word(record + 12)];
  const text = name === undefined ? undefined : image.text(namesAt + name, NAME_BYTES_MAX);
  if (text === undefined || frames === undefined) return undefined;
  const offset = wanted - startOf(row);
  const frameBytes = () => (frames === 0 ? 0 : frameSizeAt(image, layout, frames, offset));
  return { name: text, offset, frameBytes };
}

/**
 * Sizes of a frame as pairs of variable-length numbers: by how much the size changes (zigzag), and
 * for how many instructions it then holds. Go counts the size from -1.
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
