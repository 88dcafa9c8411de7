import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { EXECUTABLE } from '../../test/rig/run-kubediag.ts';
import { peakBytesBelow } from './peak-memory.ts';
import { barred, type Row, shown } from './row.ts';
import { writeDump } from './synthetic-dump.ts';

const GOROUTINES = 100_000;
const FEWER_GOROUTINES = 10_000;
const ROUNDS = 5;
const MEGABYTE = 1024 * 1024;
const NAME = 'goroutine dump, 100,000 goroutines';
/** One that was blocked is in it. */
const FOUND = 1;

/** How fast the largest dump is grouped and attributed, and that its size costs no memory. */
export async function goroutineDumpRows(scratch: string): Promise<readonly Row[]> {
  const [large, small] = [join(scratch, 'large.txt'), join(scratch, 'small.txt')];
  const bytes = await writeDump(large, GOROUTINES);
  await writeDump(small, FEWER_GOROUTINES);
  const times = Array.from({ length: ROUNDS }, () => timed(large));
  const [peak, peakOfFewer] = [await peakOf(large), await peakOf(small)];
  return [
    shown(`${NAME}: size`, bytes / MEGABYTE, 'MB'),
    barred(`${NAME}: kubediag stacks`, Math.min(...times), 's', { under: 2 }),
    barred(`${NAME}: peak memory`, peak / MEGABYTE, 'MB', { under: 150 }),
    barred(`${NAME}: peak memory / that of 10,000`, peak / peakOfFewer, 'times', { under: 1.5 }),
  ];
}

function text(file: string): readonly string[] {
  return ['stacks', '--file', file, '-o', 'json'];
}

function timed(file: string): number {
  const begun = performance.now();
  const { status, stdout } = spawnSync(EXECUTABLE, text(file), { maxBuffer: 64 * MEGABYTE });
  const seconds = (performance.now() - begun) / 1_000;
  const seen = JSON.parse(stdout.toString()) as {
    readonly total: number;
    readonly syncLoop: { readonly state: string; readonly row?: { readonly number: number } };
  };
  const isRight = seen.syncLoop.state === 'blocked' && seen.syncLoop.row?.number === 1;
  if (status !== FOUND || seen.total !== GOROUTINES || !isRight) {
    throw new Error(`the dump was misread: ${seen.total} goroutines, ${seen.syncLoop.state}`);
  }
  return seconds;
}

async function peakOf(file: string): Promise<number> {
  const child = spawn(EXECUTABLE, text(file), { stdio: 'ignore' });
  let hasEnded = false;
  child.on('exit', () => {
    hasEnded = true;
  });
  return peakBytesBelow(process.pid, () => hasEnded);
}
