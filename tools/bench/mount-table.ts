import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleScripts } from './bundle-scripts.ts';
import { leastMs } from './interleave.ts';
import type { ParseTimes } from './parse-beside-split.ts';
import { barred, notRun, type Row, shown } from './row.ts';
import { syntheticMountTable } from './synthetic-mount-table.ts';

const LINES = 100_000;
const FEWER_LINES = 25_000;
const PROCESS_ROUNDS = 25;
const PARSE_ROUNDS = 15;
const TIMES_FINDMNT = 1.5;
const TIMES_SPLIT = 3;
const TIMES_LINEAR = 1.5;
const COLUMNS = 'ID,TARGET,FSROOT,FSTYPE,SOURCE';
const NAME = 'mount table of 100,000 lines';

/** How fast the largest mount table becomes records: beside findmnt, and beside merely reading it. */
export async function mountTableRows(scratch: string): Promise<readonly Row[]> {
  const [table, smaller] = [join(scratch, 'mountinfo'), join(scratch, 'mountinfo-smaller')];
  writeFileSync(table, syntheticMountTable(LINES));
  writeFileSync(smaller, syntheticMountTable(FEWER_LINES));
  await bundleScripts(scratch, 'parse-table', 'parse-beside-split');
  return [
    ...processRows(table, join(scratch, 'parse-table.cjs')),
    ...parseRows(table, smaller, join(scratch, 'parse-beside-split.cjs')),
  ];
}

function processRows(table: string, script: string): readonly Row[] {
  if (spawnSync('findmnt', ['--version']).status !== 0) {
    return [notRun(`${NAME}: findmnt / whole process`, 'it needs findmnt; install util-linux')];
  }
  const { kubediag, findmnt } = leastMs(
    {
      kubediag: [process.execPath, script, table, String(LINES)],
      findmnt: ['findmnt', '--tab-file', table, '-rno', COLUMNS],
    },
    PROCESS_ROUNDS,
  );
  return [
    shown(`${NAME}: whole process`, kubediag, 'ms'),
    shown(`${NAME}: findmnt`, findmnt, 'ms'),
    barred(`${NAME}: findmnt / whole process`, findmnt / kubediag, 'times', {
      atLeast: TIMES_FINDMNT,
    }),
  ];
}

function parseRows(table: string, smaller: string, script: string): readonly Row[] {
  const text = ['--expose-gc', script, String(PARSE_ROUNDS), table, smaller];
  const output = execFileSync(process.execPath, text, { encoding: 'utf8' });
  const [all, few] = JSON.parse(output) as readonly [ParseTimes, ParseTimes];
  const linear = all.parseMs / LINES / (few.parseMs / FEWER_LINES);
  return [
    shown(`${NAME}: read and split into lines`, all.splitMs, 'ms'),
    shown(`${NAME}: parse`, all.parseMs, 'ms'),
    barred(`${NAME}: parse / read and split`, all.parseMs / all.splitMs, 'times', {
      under: TIMES_SPLIT,
    }),
    barred(`${NAME}: time per line / that of 25,000 lines`, linear, 'times', {
      atMost: TIMES_LINEAR,
    }),
  ];
}
