import type { Bytes } from './byte-source.ts';
import { type Elf, linkedAddress, pointerAt } from './elf.ts';
import { FUNCTIONS_MAX, NAME_BYTES_MAX, PC_TABLE_SEARCH_BYTES_MAX } from './limits.ts';

/**
 * The table by which every Go program knows the functions of its own stacks. It is there in a
 * stripped program too, because the garbage collector cannot do without it.
 */
export interface PcLineTable {
  readonly functions: number;
  /** The function at an address for which the program was linked. */
  nameAt(address: number): string | undefined;
}

/** How the table is laid out; Go has changed it three times. */
interface Layout {
  readonly count: number;
  /** What the addresses in the table are counted from. */
  readonly textStart: number;
  readonly namesAt: number;
  readonly rowsAt: number;
  /** Bytes of one number in a row of the table. */
  readonly width: 4 | 8;
}

const GO_1_2 = 0xfffffffb;
const GO_1_16 = 0xfffffffa;
const GO_1_18 = 0xfffffff0;
const GO_1_20 = 0xfffffff1;
const MAGICS = [GO_1_20, GO_1_18, GO_1_16, GO_1_2];

// .gopclntab, and .data.rel.ro.gopclntab where the program may be loaded anywhere
const SECTION = /^(\.data\.rel\.ro)?\.gopclntab$/;

export function readPcLineTable(elf: Elf): PcLineTable | undefined {
  const section = elf.sections.find(({ name }) => SECTION.test(name));
  const at = section?.offset ?? placeByMagic(elf);
  if (at === undefined) return undefined;
  const layout = layoutAt(elf, at);
  if (!layout || layout.count === 0 || layout.count > FUNCTIONS_MAX) return undefined;
  return {
    functions: layout.count,
    nameAt: (address) => nameIn(elf.bytes, layout, address),
  };
}

function layoutAt(elf: Elf, at: number): Layout | undefined {
  const { bytes } = elf;
  const magic = bytes.word(at);
  if (magic === undefined || !isHead(bytes, at)) return undefined;
  const field = (number: number) => bytes.long(at + 8 + number * 8) ?? Number.NaN;
  const count = field(0);
  if (magic === GO_1_2) {
    return { count, textStart: 0, namesAt: at, rowsAt: at + 16, width: 8 };
  }
  if (magic === GO_1_16) {
    return { count, textStart: 0, namesAt: at + field(2), rowsAt: at + field(6), width: 8 };
  }
  const textStart = textStartOf(elf, linkedAddress(elf, at) ?? 0);
  if (textStart === undefined) return undefined;
  return { count, textStart, namesAt: at + field(3), rowsAt: at + field(7), width: 4 };
}

/**
 * Where the functions of Go begin. The table's head says it up to Go 1.25. Since then the program's
 * own description does, which Go calls moduledata; its first word is the address of the table. Where
 * C is linked in, the code section begins with that, and would give every function another's name.
 */
function textStartOf(elf: Elf, table: number): number | undefined {
  const told = pointerAt(elf, table + 24);
  if (told) return told;
  const module = elf.sections.find(({ name }) => name === '.go.module')?.address;
  if (module !== undefined && pointerAt(elf, module) === table) {
    return pointerAt(elf, module + MODULE_TEXT);
  }
  const hasC = elf.sections.some(({ name }) => name === '.init');
  return hasC ? undefined : elf.sections.find(({ name }) => name === '.text')?.address;
}

/** After a pointer, six slices, a pointer and two addresses of eight bytes each. */
const MODULE_TEXT = 22 * 8;

/** f1 ff ff ff 00 00 01 08: the magic, two zeroes, bytes of an instruction and of an address. */
function isHead(bytes: Bytes, at: number): boolean {
  const head = bytes.slice(at, 8);
  if (!head || !MAGICS.includes(bytes.word(at) ?? 0)) return false;
  return head[4] === 0 && head[5] === 0 && [1, 2, 4].includes(head[6] ?? 0) && head[7] === 8;
}

/** Without sections the table is looked for: it begins at a multiple of its own alignment. */
function placeByMagic({ bytes, sections }: Elf): number | undefined {
  if (sections.length > 0) return undefined;
  const end = Math.min(bytes.sizeBytes, PC_TABLE_SEARCH_BYTES_MAX);
  for (let start = 0; start < end; start += STEP_BYTES) {
    const piece = bytes.slice(start, Math.min(STEP_BYTES, end - start));
    if (!piece) return undefined;
    for (let at = 0; at < piece.length; at += TABLE_ALIGNMENT) {
      // The last three bytes of each magic; a whole head is asked for only where they stand.
      if (piece[at + 1] !== 0xff || piece[at + 2] !== 0xff || piece[at + 3] !== 0xff) continue;
      if (isHead(bytes, start + at)) return start + at;
    }
  }
  return undefined;
}

const TABLE_ALIGNMENT = 32;
const STEP_BYTES = 1024 * 1024;

function nameIn(bytes: Bytes, layout: Layout, address: number): string | undefined {
  const { count, textStart, rowsAt, width, namesAt } = layout;
  const number = (offset: number) => (width === 4 ? bytes.word(offset) : bytes.long(offset));
  const startOf = (row: number) => number(rowsAt + row * 2 * width);
  const wanted = address - textStart;
  const [first, end] = [startOf(0), startOf(count)];
  if (first === undefined || end === undefined || wanted < first || wanted >= end) return undefined;
  let low = 0;
  let high = count;
  while (high - low > 1) {
    const middle = low + Math.floor((high - low) / 2);
    const start = startOf(middle);
    if (start === undefined) return undefined;
    if (start <= wanted) low = middle;
    else high = middle;
  }
  const place = number(rowsAt + low * 2 * width + width);
  if (place === undefined) return undefined;
  // The first number of a function's record is its address, the next its name. Before Go 1.16 all
  // is counted from the head, which is where the names begin too.
  const recordsAt = layout.rowsAt === namesAt + 16 ? namesAt : rowsAt;
  const name = bytes.word(recordsAt + place + width);
  return name === undefined ? undefined : bytes.text(namesAt + name, NAME_BYTES_MAX);
}
