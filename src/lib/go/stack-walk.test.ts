import { expect, test } from 'vitest';
import {
  FUNCTION_BYTES,
  type ProgramOptions,
  syntheticProgram,
} from '../../../test/synthetic-program.ts';
import type { ByteSource } from './byte-source.ts';
import { programInFile, readElf, runningProgram } from './elf.ts';
import { readPcLineTable } from './pc-line-table.ts';
import { walkStack } from './stack-walk.ts';

const LAYOUTS = ['1.2', '1.16', '1.18', '1.20', '1.26'] as const;
const FUNCTIONS = ['syscall.Syscall6', 'os.Stat', 'main.(*cleaner).Clean', 'runtime.goexit'];
const FRAMES = [0, 24, 4096, 8];
const TEXT = 0x401000;
const STACK = 0xc000100000;
/** File offsets of the program, and its load address. */
const [TABLE, FRAMES_AT, MODULE, LOADED_AT] = [0x2000, 0xa00, 0x3000, 0x400000];

/** A return address in the middle of a function. */
const inside = (index: number, bias = 0) => bias + TEXT + index * FUNCTION_BYTES + 16;

function sourceOf(bytes: Uint8Array): ByteSource {
  return {
    sizeBytes: bytes.length,
    read: (offset, length) => bytes.subarray(offset, offset + length),
  };
}

type TableOptions = Partial<ProgramOptions> & Pick<ProgramOptions, 'layout'>;
type Change = (view: DataView) => void;

function maybeTableOf(options: TableOptions, change: Change = () => {}) {
  const bytes = syntheticProgram({ functions: FUNCTIONS, frames: FRAMES, ...options });
  change(new DataView(bytes.buffer));
  const elf = readElf(sourceOf(bytes));
  return elf && readPcLineTable(programInFile(elf));
}

function tableOf(options: TableOptions, change?: Change) {
  const table = maybeTableOf(options, change);
  if (!table) throw new Error('no table');
  return table;
}

/** The stack in which each function was called by the next one; it has only return addresses. */
function memoryOf(bias = 0) {
  const text = new Map<number, number>();
  let at = STACK;
  for (const [index, size] of FRAMES.entries()) {
    text.set(at + size, inside(index + 1, bias));
    at += size + 8;
  }
  return { bias, longAt: (address: number) => text.get(address) };
}

const NAMES = FUNCTIONS.map((name) => ({ function: name, offset: 16 }));

test.each(LAYOUTS)('a stack is walked to the first function of its goroutine, Go %s', (layout) => {
  const registers = { stackPointer: STACK, programCounter: inside(0) };
  expect(walkStack(tableOf({ layout }), registers, memoryOf())).toEqual({ frames: NAMES });
});

test.each(LAYOUTS)('a program that is loaded elsewhere is walked as well, Go %s', (layout) => {
  const bias = 0x7f0000000000;
  const registers = { stackPointer: STACK, programCounter: inside(0, bias) };
  expect(walkStack(tableOf({ layout }), registers, memoryOf(bias))).toEqual({ frames: NAMES });
});

test('a function at its first instruction has no frame yet', () => {
  const programCounter = TEXT + FUNCTION_BYTES + 2;
  const memory = { bias: 0, longAt: (at: number) => (at === STACK ? inside(3) : undefined) };
  const { frames } = walkStack(
    tableOf({ layout: '1.20' }),
    { stackPointer: STACK, programCounter },
    memory,
  );
  expect(frames.map((frame) => frame.function)).toEqual(['os.Stat', 'runtime.goexit']);
});

test.each([
  ['memory that may not be read', { stackPointer: 0x10, programCounter: inside(1) }],
  ['not in the tables of Go', { stackPointer: STACK, programCounter: 0x10 }],
])('a walk that breaks off says why: %s', (why, registers) => {
  const walked = walkStack(tableOf({ layout: '1.20' }), registers, memoryOf());
  expect(walked.brokenBy).toContain(why);
});

test('a stack of the Go scheduler is no goroutine', () => {
  const functions = ['runtime.futex', 'runtime.mcall', 'main.main'];
  const table = tableOf({ layout: '1.20', functions, frames: [0, 8, 8] });
  const registers = { stackPointer: STACK, programCounter: inside(0) };
  const walked = walkStack(table, registers, { bias: 0, longAt: () => inside(1) });
  expect(walked).toMatchObject({ brokenBy: expect.stringContaining('scheduler') });
});

test('a stack that never ends is cut', () => {
  const table = tableOf({ layout: '1.20' });
  const registers = { stackPointer: STACK, programCounter: inside(1) };
  const walked = walkStack(table, registers, { bias: 0, longAt: () => inside(1) });
  expect(walked.brokenBy).toContain('more than 500 calls');
});

test('an implausible frame size ends the walk', () => {
  const table = tableOf({ layout: '1.20', frames: [0, 17 * 1024 * 1024] });
  const registers = { stackPointer: STACK, programCounter: inside(1) };
  const walked = walkStack(table, registers, { bias: 0, longAt: () => inside(3) });
  expect(walked.brokenBy).toBe('no size of the frame of os.Stat');
});

test('the ranges of frame sizes depend on the instruction size of the processor', () => {
  const table = tableOf({ layout: '1.20' }, (view) => view.setUint8(TABLE + 6, 4));
  const sizeAt = (offset: number) => table.functionAt(TEXT + FUNCTION_BYTES + offset)?.frameBytes();
  expect([12, 16].map(sizeAt)).toEqual([0, 24]);
});

test('an address after the last range of frame sizes has no size', () => {
  // 02 04 30 3c 00: the size holds for 60 bytes, and now only for 8.
  const table = tableOf({ layout: '1.20' }, (view) => view.setUint8(TABLE + FRAMES_AT + 4, 8));
  expect(table.functionAt(inside(1))?.frameBytes()).toBeUndefined();
  expect(table.functionAt(inside(2))?.frameBytes()).toBe(4096);
});

test('a segment that begins within a page is loaded from the start of that page', () => {
  const table = tableOf({ layout: '1.16' }, (view) => {
    view.setBigUint64(64 + 8, BigInt(TABLE + 16), true);
    view.setBigUint64(64 + 16, BigInt(LOADED_AT + TABLE + 16), true);
  });
  expect(table.functionAt(inside(1))?.name).toBe('os.Stat');
});

test('no function is named if C code comes first and the start of Go is unknown', () => {
  const isLost: Change = (view) => view.setBigUint64(MODULE, 0n, true);
  expect(maybeTableOf({ layout: '1.26', foreignBytes: 64 }, isLost)).toBeUndefined();
  expect(maybeTableOf({ layout: '1.26' }, isLost)?.functionAt(inside(1))?.name).toBe('os.Stat');
});

test('moduledata among other data is found by its two pointers', () => {
  const options = { layout: '1.26', foreignBytes: FUNCTION_BYTES, isLinkedByC: true } as const;
  const found = tableOf(options).functionAt(inside(1) + FUNCTION_BYTES);
  expect(found?.name).toBe('os.Stat');
});

const BIAS = 0x7f0000000000;

/** The same program in the memory of a process, with these pointers relocated. */
function runningTable(options: TableOptions, pointers: readonly number[], isWritable: boolean) {
  const bytes = syntheticProgram({ functions: FUNCTIONS, frames: FRAMES, ...options });
  // The only segment; in a position-independent program the segment of the table is writable.
  new DataView(bytes.buffer).setUint32(68, isWritable ? 7 : 5, true);
  const loaded = bytes.slice();
  const view = new DataView(loaded.buffer);
  for (const at of pointers) {
    view.setBigUint64(at, view.getBigUint64(at, true) + BigInt(BIAS), true);
  }
  const elf = readElf(sourceOf(bytes));
  if (!elf) throw new Error('no program');
  const read = (address: number, length: number) => {
    const offset = address - BIAS - LOADED_AT;
    return offset < 0 || !isWritable ? NOTHING : loaded.subarray(offset, offset + length);
  };
  return readPcLineTable(runningProgram(elf, { bias: BIAS, read }));
}

const NOTHING = new Uint8Array();
const ROWS = Array.from(Array(FUNCTIONS.length + 1).keys(), (row) => TABLE + 0x100 + row * 16);

/** With these options only the pointers of moduledata show where the functions start. */
const WITH_C = { layout: '1.26', foreignBytes: FUNCTION_BYTES } as const;

test.each<[string, TableOptions, readonly number[], boolean]>([
  ['the addresses in the rows of its table', { layout: '1.16' }, ROWS, true],
  ['the pointers of its description', WITH_C, [MODULE, MODULE + 22 * 8], true],
  ['nothing, where all is read from the file', { layout: '1.16' }, [], false],
])(
  'what a process may have written is read from its memory, and moved back: %s',
  (_, options, pointers, isWritable) => {
    const table = runningTable(options, pointers, isWritable);
    const found = table?.functionAt(inside(1) + (options.foreignBytes ?? 0));
    expect(found?.name).toBe('os.Stat');
    expect(found?.frameBytes()).toBe(24);
  },
);
