/** A Go program of a few functions: as small as an ELF with a table of its functions can be. */
export interface ProgramOptions {
  readonly layout: '1.2' | '1.16' | '1.18' | '1.20' | '1.26';
  /** Names in the order of their addresses, each of FUNCTION_BYTES. */
  readonly functions: readonly string[];
  /** Bytes of C in front of the functions, in the same section. */
  readonly foreignBytes?: number;
  /** Bytes of the frame of each function, once its first four bytes have made it; none without. */
  readonly frames?: readonly number[];
  /** Linked by C's linker: moduledata lies among other data, behind what looks like the beginning of one. */
  readonly isLinkedByC?: boolean;
  /** The list of sections is cut away. */
  readonly isUnmanagedContainer?: boolean;
}

export const FUNCTION_BYTES = 64;
/** Where the code is in the file, and for which address it was linked. */
export const TEXT_OFFSET = 0x1000;
const TEXT_ADDRESS = 0x401000;
const TABLE_OFFSET = 0x2000;
const MODULE_OFFSET = 0x3000;
const DECOY_OFFSET = MODULE_OFFSET - 0x20;
const SECTIONS_OFFSET = 0x4000;
const NAMES_OFFSET = 0x4800;
const SIZE = 0x5000;

const MAGIC = {
  '1.2': 0xfffffffb,
  '1.16': 0xfffffffa,
  '1.18': 0xfffffff0,
  '1.20': 0xfffffff1,
  '1.26': 0xfffffff1,
};

export function syntheticProgram(options: ProgramOptions): Uint8Array {
  const file = new Uint8Array(SIZE);
  const view = new DataView(file.buffer);
  const long = (at: number, value: number) => view.setBigUint64(at, BigInt(value), true);
  file.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  long(32, 64);
  view.setUint16(56, 1, true);
  view.setUint32(64, 1, true);
  long(64 + 16, 0x400000);
  long(64 + 32, SIZE);
  const textStart = TEXT_ADDRESS + (options.foreignBytes ?? 0);
  writeTable(view, options, textStart);
  if (options.layout === '1.26') {
    long(MODULE_OFFSET, 0x400000 + TABLE_OFFSET);
    long(MODULE_OFFSET + 8, 0x400000 + TABLE_OFFSET + NAMES_AT);
    if (options.isLinkedByC) long(DECOY_OFFSET, 0x400000 + TABLE_OFFSET);
    long(MODULE_OFFSET + 22 * 8, textStart);
  }
  if (!options.isUnmanagedContainer) writeSections(view, file, options);
  return file;
}

function writeTable(view: DataView, options: ProgramOptions, textStart: number): void {
  const at = TABLE_OFFSET;
  const long = (offset: number, value: number) => view.setBigUint64(offset, BigInt(value), true);
  const count = options.functions.length;
  view.setUint32(at, MAGIC[options.layout], true);
  view.setUint8(at + 6, 1);
  view.setUint8(at + 7, 8);
  long(at + 8, count);
  const isOld = options.layout === '1.2' || options.layout === '1.16';
  const width = isOld ? 8 : 4;
  const number = (offset: number, value: number) =>
    isOld ? long(offset, value) : view.setUint32(offset, value, true);
  // All tables lie behind one another: rows, records, names.
  const rowsAt = options.layout === '1.2' ? at + 16 : at + 0x100;
  const base = options.layout === '1.2' ? at : rowsAt;
  const recordsAt = at + 0x400;
  let nameAt = at + 0x800;
  const namesBase = options.layout === '1.2' ? at : at + NAMES_AT;
  if (options.layout === '1.16') {
    long(at + 24, namesBase - at);
    long(at + 48, FRAMES_AT);
    long(at + 56, rowsAt - at);
  } else if (!isOld) {
    long(at + 24, options.layout === '1.26' ? 0 : textStart);
    long(at + 32, namesBase - at);
    long(at + 56, FRAMES_AT);
    long(at + 64, rowsAt - at);
  }
  const first = isOld ? textStart : 0;
  // A place of 0 says that a function has no frame.
  let framesAt = at + FRAMES_AT + 1;
  for (const [index, name] of options.functions.entries()) {
    const record = recordsAt + index * 32;
    number(rowsAt + index * 2 * width, first + index * FUNCTION_BYTES);
    number(rowsAt + index * 2 * width + width, record - base);
    number(record, first + index * FUNCTION_BYTES);
    view.setUint32(record + width, nameAt - namesBase, true);
    for (const byte of new TextEncoder().encode(`${name}\0`)) view.setUint8(nameAt++, byte);
    const size = options.frames?.[index] ?? 0;
    if (size === 0) continue;
    view.setUint32(
      record + width + 12,
      framesAt - (options.layout === '1.2' ? at : at + FRAMES_AT),
      true,
    );
    // From -1 to 0 for four bytes, from there to the size for the rest, and the end of the list.
    for (const byte of [2, 4, ...varint(size * 2), FUNCTION_BYTES - 4, 0]) {
      view.setUint8(framesAt++, byte);
    }
  }
  number(rowsAt + count * 2 * width, first + count * FUNCTION_BYTES);
}

/** Where the names and the sizes of frames lie in the table. */
const NAMES_AT = 0x700;
const FRAMES_AT = 0xa00;

function varint(value: number): readonly number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)];
}

function moduleSection({ isLinkedByC = false }: ProgramOptions) {
  const name = isLinkedByC ? '.data' : '.go.module';
  const offset = isLinkedByC ? DECOY_OFFSET : MODULE_OFFSET;
  return { name, address: 0x400000 + offset, offset };
}

function writeSections(view: DataView, file: Uint8Array, options: ProgramOptions): void {
  const sections = [
    { name: '', address: 0, offset: 0 },
    { name: '.text', address: TEXT_ADDRESS, offset: TEXT_OFFSET },
    { name: '.gopclntab', address: 0x400000 + TABLE_OFFSET, offset: TABLE_OFFSET },
    { name: '.shstrtab', address: 0, offset: NAMES_OFFSET },
    ...(options.foreignBytes ? [{ name: '.init', address: 0x400500, offset: 0x500 }] : []),
    ...(options.layout === '1.26' ? [moduleSection(options)] : []),
  ];
  view.setBigUint64(40, BigInt(SECTIONS_OFFSET), true);
  view.setUint16(60, sections.length, true);
  view.setUint16(62, 3, true);
  let nameAt = NAMES_OFFSET;
  for (const [index, { name, address, offset }] of sections.entries()) {
    const row = SECTIONS_OFFSET + index * 64;
    view.setUint32(row, nameAt - NAMES_OFFSET, true);
    view.setUint32(row + 4, 1, true);
    view.setBigUint64(row + 16, BigInt(address), true);
    view.setBigUint64(row + 24, BigInt(offset), true);
    view.setBigUint64(row + 32, BigInt(0x100), true);
    file.set(new TextEncoder().encode(`${name}\0`), nameAt);
    nameAt += name.length + 1;
  }
}
