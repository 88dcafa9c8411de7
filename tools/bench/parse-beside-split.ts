import { readFileSync } from 'node:fs';
import { parseMountTable } from '../../src/node/evidence/mounts/mount-table.ts';

/**
 * Compares, in one process, how long it takes to read a file and split it into lines with how long
 * it takes to make records of its text: `parse-beside-split ROUNDS FILE...`. Needs --expose-gc, so
 * that nobody pays for what another has left lying about.
 */
export interface ParseTimes {
  readonly splitMs: number;
  readonly parseMs: number;
}

const [rounds = '', ...files] = process.argv.slice(2);
const times = files.map(() => ({ splitMs: [] as number[], parseMs: [] as number[] }));

function msOf(work: () => readonly unknown[]): number {
  globalThis.gc?.();
  const begun = performance.now();
  const created = work();
  const tookMs = performance.now() - begun;
  // Used, so that nobody can think the work away.
  if (created.length === 0) throw new Error('there are no lines');
  return tookMs;
}

for (let round = 0; round < Number(rounds); round += 1) {
  for (const [index, file] of files.entries()) {
    times[index]?.splitMs.push(msOf(() => readFileSync(file, 'utf8').split('\n')));
    const text = readFileSync(file, 'utf8');
    times[index]?.parseMs.push(msOf(() => parseMountTable(text, file).mounts));
  }
}

const least = times.map(
  ({ splitMs, parseMs }): ParseTimes => ({
    splitMs: Math.min(...splitMs),
    parseMs: Math.min(...parseMs),
  }),
);
process.stdout.write(JSON.stringify(least));
