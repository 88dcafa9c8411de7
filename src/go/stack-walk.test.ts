import { expect, test } from 'vitest';
import { FUNCTION_BYTES, madeProgram, type ProgramWish } from '../../test/made-program.ts';
import type { ByteSource } from './byte-source.ts';
import { readElf } from './elf.ts';
import { readPcLineTable } from './pc-line-table.ts';
import { programInFile, runningProgram } from './program.ts';
import { walkStack } from './stack-walk.ts';

const LAYOUTS = ['1.2', '1.16', '1.18', '1.20', '1.26'] as const;
const FUNCTIONS = ['syscall.Syscall6', 'os.Stat', 'main.(*cleaner).Clean', 'runtime.goexit'];
const FRAMES = [0, 24, 4096, 8];
const TEXT = 0x401000;
const STACK = 0xc000100000;

/** An address in the middle of a function, from where its next call returns. */
const inside = (index: number, bias = 0) => bias + TEXT + index * FUNCTION_BYTES + 16;

function sourceOf(bytes: Uint8Array): ByteSource {
  return {
    sizeBytes: bytes.length,
    read: (offset, length) => bytes.subarray(offset, offset + length),
  };
}

function tableOf(wish: Partial<ProgramWish> & Pick<ProgramWish, 'layout'>) {
  const elf = readElf(sourceOf(madeProgram({ functions: FUNCTIONS, frames: FRAMES, ...wish })));
  const table = elf && readPcLineTable(programInFile(elf));
  if (!table) throw new Error('no table');
  return table;
}

/** The stack of a call of each function by the next one: only return addresses, at their places. */
function memoryOf(bias = 0) {
  const words = new Map<number, number>();
  let at = STACK;
  for (const [index, size] of FRAMES.entries()) {
    words.set(at + size, inside(index + 1, bias));
    at += size + 8;
  }
  return { bias, longAt: (address: number) => words.get(address) };
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

test('the frame of a function that has just begun is not there yet', () => {
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

test("a stack of Go's own scheduler is no goroutine", () => {
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

test('what a process may have written is read from its memory, and moved back', () => {
  const bytes = madeProgram({ layout: '1.16', functions: FUNCTIONS, frames: FRAMES });
  // The one segment is writable, as the table of a program is that may be loaded anywhere.
  new DataView(bytes.buffer).setUint32(68, 7, true);
  const bias = 0x7f0000000000;
  const loaded = bytes.slice();
  const view = new DataView(loaded.buffer);
  const rows = 0x2000 + 0x100;
  for (let row = 0; row <= FUNCTIONS.length; row += 1) {
    const at = rows + row * 16;
    view.setBigUint64(at, view.getBigUint64(at, true) + BigInt(bias), true);
  }
  const elf = readElf(sourceOf(bytes));
  if (!elf) throw new Error('no program');
  const read = (address: number, length: number) => {
    const offset = address - bias - 0x400000;
    return offset < 0 ? new Uint8Array() : loaded.subarray(offset, offset + length);
  };
  const table = readPcLineTable(runningProgram(elf, { bias, read }));
  expect(table?.functionAt(inside(1))?.name).toBe('os.Stat');
  expect(table?.functionAt(inside(1))?.frameBytes()).toBe(24);
});
