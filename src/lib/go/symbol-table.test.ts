import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, expect, test } from 'vitest';
import {
  FUNCTION_BYTES,
  type ProgramOptions,
  syntheticProgram,
  TEXT_OFFSET,
} from '../../../test/synthetic-program.ts';
import { type ByteSource, Bytes } from './byte-source.ts';
import { readElf } from './elf.ts';
import { readSymbolTable } from './symbol-table.ts';

const LAYOUTS = ['1.2', '1.16', '1.18', '1.20', '1.26'] as const;
const FUNCTIONS = ['os.Remove', 'main.(*cleaner).Clean', 'main.main', 'main.init·1'];

const open: number[] = [];
afterAll(() => {
  for (const file of open) closeSync(file);
});

function sourceOf(bytes: Uint8Array): ByteSource {
  return {
    sizeBytes: bytes.length,
    read: (offset, length) => bytes.subarray(offset, offset + length),
  };
}

function fileSource(path: string): ByteSource {
  const file = openSync(path, 'r');
  open.push(file);
  return {
    sizeBytes: fstatSync(file).size,
    read: (offset, length) => {
      const bytes = new Uint8Array(length);
      return bytes.subarray(0, readSync(file, bytes, 0, length, offset));
    },
  };
}

function tableOf(options: ProgramOptions) {
  return readSymbolTable(sourceOf(syntheticProgram(options)));
}

test.each(LAYOUTS)('the functions of a program of Go %s, first and last byte of each', (layout) => {
  const table = tableOf({ layout, functions: FUNCTIONS });
  expect(table?.kind).toBe('go');
  for (const [index, name] of FUNCTIONS.entries()) {
    const start = TEXT_OFFSET + index * FUNCTION_BYTES;
    expect(table?.nameAt(start)).toBe(name);
    expect(table?.nameAt(start + FUNCTION_BYTES - 1)).toBe(name);
  }
  expect(table?.nameAt(TEXT_OFFSET - 1)).toBeUndefined();
  expect(table?.nameAt(TEXT_OFFSET + FUNCTIONS.length * FUNCTION_BYTES)).toBeUndefined();
});

test.each(['1.18', '1.20', '1.26'] as const)(
  'C code before the functions does not change their names, Go %s',
  (layout) => {
    const table = tableOf({ layout, functions: FUNCTIONS, foreignBytes: 256 });
    expect(table?.nameAt(TEXT_OFFSET + 256)).toBe('os.Remove');
    expect(table?.nameAt(TEXT_OFFSET + 255)).toBeUndefined();
  },
);

test.each(['1.2', '1.16', '1.18', '1.20'] as const)(
  'the table is found without sections, Go %s',
  (layout) => {
    const table = tableOf({ layout, functions: FUNCTIONS, isUnmanagedContainer: true });
    expect(table?.nameAt(TEXT_OFFSET + FUNCTION_BYTES)).toBe('main.(*cleaner).Clean');
  },
);

test('an unknown start of the functions gives no name instead of a wrong one', () => {
  const table = tableOf({ layout: '1.26', functions: FUNCTIONS, isUnmanagedContainer: true });
  expect(table).toMatchObject({ kind: 'none' });
  expect(table?.nameAt(TEXT_OFFSET)).toBeUndefined();
});

test.each(LAYOUTS)('a program of Go %s that is cut off anywhere throws nothing', (layout) => {
  const whole = syntheticProgram({ layout, functions: FUNCTIONS });
  for (let end = 0; end < whole.length; end += 61) {
    const name = readSymbolTable(sourceOf(whole.subarray(0, end)))?.nameAt(TEXT_OFFSET);
    expect([undefined, 'os.Remove']).toContain(name);
  }
});

test('a file that is no program has no symbols', () => {
  expect(readSymbolTable(sourceOf(new Uint8Array()))).toBeUndefined();
  expect(
    readSymbolTable(sourceOf(new TextEncoder().encode('#!/bin/sh\n'.repeat(20)))),
  ).toBeUndefined();
});

/** The file offset of the entry point. */
function entryOf(source: ByteSource): number {
  const address = new Bytes(source).long(24) ?? 0;
  const segment = readElf(source)?.segments.find(
    (one) => address >= one.address && address < one.address + one.sizeBytes,
  );
  return segment ? address - segment.address + segment.offset : 0;
}

test('a real stripped Go program', () => {
  const path = createRequire(import.meta.url).resolve(`@esbuild/linux-${process.arch}/bin/esbuild`);
  const source = fileSource(path);
  const table = readSymbolTable(source);
  expect(table?.kind).toBe('go');
  expect(table?.nameAt(entryOf(source))).toMatch(/^_rt0_\w+_linux$/);
});

test('a real program with the usual symbols', () => {
  const source = fileSource(process.execPath);
  const table = readSymbolTable(source);
  expect(table?.kind).toBe('elf');
  expect(table?.nameAt(entryOf(source))).toBe('_start');
});
