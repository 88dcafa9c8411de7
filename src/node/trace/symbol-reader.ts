import { closeSync, openSync } from 'node:fs';
import { readSymbolTable } from '../../lib/go/symbol-table.ts';
import { fileSource } from '../reader/file-source.ts';

/** Places of one file whose functions are wanted. */
export interface SymbolQuestion {
  readonly file: string;
  readonly offsets: readonly number[];
}

/** For each question the names in the order of its offsets; null where there is none. */
export type SymbolAnswer = readonly (readonly (string | null)[])[];

/** The disposable child that opens programs: one on a dead disk hangs it, and nobody else. */
export async function runSymbolReader(): Promise<void> {
  let input = '';
  process.stdin.setEncoding('utf8');
  for await (const chunk of process.stdin) input += chunk as string;
  const questions = JSON.parse(input) as readonly SymbolQuestion[];
  const answer: SymbolAnswer = questions.map(namesOf);
  process.stdout.write(JSON.stringify(answer));
}

function namesOf({ file, offsets }: SymbolQuestion): readonly (string | null)[] {
  let opened: number | undefined;
  try {
    opened = openSync(file, 'r');
    const table = readSymbolTable(fileSource(opened));
    return offsets.map((offset) => table?.nameAt(offset) ?? null);
  } catch {
    return offsets.map(() => null); // The process is gone, and its files with it.
  } finally {
    if (opened !== undefined) closeSync(opened);
  }
}
