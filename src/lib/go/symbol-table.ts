import { type ByteSource, lastRowAtMost, numberOf } from './byte-source.ts';
import { type Elf, linkedAddress, programInFile, readElf, type Section } from './elf.ts';
import { NAME_BYTES_MAX, SYMBOLS_MAX } from './limits.ts';
import { readPcLineTable } from './pc-line-table.ts';

/** The function at a file offset of a program or library. */
export interface SymbolTable {
  /** The source of the names; stripped programs have "go" too. */
  readonly kind: 'go' | 'elf' | 'none';
  nameAt(fileOffset: number): string | undefined;
}

/** Undefined if the file is no 64-bit program. */
export function readSymbolTable(source: ByteSource): SymbolTable | undefined {
  const elf = readElf(source);
  if (!elf) return undefined;
  const go = readPcLineTable(programInFile(elf));
  const symbols = go ? [] : symbolsOf(elf);
  return {
    kind: go ? 'go' : symbols.length > 0 ? 'elf' : 'none',
    nameAt: (offset) => {
      const address = linkedAddress(elf, offset);
      if (address === undefined) return undefined;
      return go ? go.functionAt(address)?.name : symbolAt(elf, symbols, address);
    },
  };
}

interface Symbol {
  readonly address: number;
  readonly sizeBytes: number;
  readonly nameAt: number;
}

const SYMBOLS = 2;
const DYNAMIC_SYMBOLS = 11;
const FUNCTION = 2;
const INDIRECT_FUNCTION = 10;
const SYMBOL_BYTES = 24;

/** The functions of a program that is not stripped; of a library, at least the exported ones. */
function symbolsOf(elf: Elf): readonly Symbol[] {
  const whole = elf.sections.find(({ type }) => type === SYMBOLS);
  const table = whole ?? elf.sections.find(({ type }) => type === DYNAMIC_SYMBOLS);
  const names = table && elf.sections[table.link];
  return table && names ? functionsIn(elf, table, names).toSorted(byAddress) : [];
}

function functionsIn({ bytes }: Elf, table: Section, names: Section): readonly Symbol[] {
  const count = Math.min(Math.floor(table.sizeBytes / SYMBOL_BYTES), SYMBOLS_MAX);
  const rows = bytes.slice(table.offset, count * SYMBOL_BYTES) ?? new Uint8Array();
  const found: Symbol[] = [];
  for (let row = 0; row < rows.length; row += SYMBOL_BYTES) {
    const type = (rows[row + 4] ?? 0) & 0xf;
    const address = numberOf(rows, row + 8, 8);
    if ((type !== FUNCTION && type !== INDIRECT_FUNCTION) || address === 0) continue;
    const sizeBytes = numberOf(rows, row + 16, 8);
    found.push({ address, sizeBytes, nameAt: names.offset + numberOf(rows, row, 4) });
  }
  return found;
}

function byAddress(one: Symbol, other: Symbol): number {
  return one.address - other.address;
}

function symbolAt({ bytes }: Elf, symbols: readonly Symbol[], address: number): string | undefined {
  const row = lastRowAtMost(address, symbols.length, (at) => symbols[at]?.address ?? 0);
  const symbol = symbols[row];
  // An address after the end of a function belongs to a function without a symbol.
  if (!symbol || address >= symbol.address + Math.max(symbol.sizeBytes, 1)) return undefined;
  return bytes.text(symbol.nameAt, NAME_BYTES_MAX);
}
