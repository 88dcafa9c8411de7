import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { bundleScripts } from './bundle-scripts.ts';
import { barred, type Row, shown } from './row.ts';
import type { SearchTimes } from './search-log.ts';
import { writeLog } from './synthetic-log.ts';

const LINES = 1_000_000;
const ROUNDS = 9;
const LINES_PER_SECOND = 1_000_000;
const TIMES_TEN_MORE = 1.2;
const NAME = 'kubelet log of 1,000,000 lines';

/** How fast the reader searches a log for everything that we know, and what ten more would cost. */
export async function kubeletLogRows(scratch: string): Promise<readonly Row[]> {
  const log = join(scratch, 'kubelet.log');
  writeLog(log, LINES);
  await bundleScripts(scratch, 'search-log');
  const script = join(scratch, 'search-log.cjs');
  const text = ['--expose-gc', script, String(ROUNDS), String(LINES), log];
  const { allMs, tenMoreMs } = JSON.parse(
    execFileSync(process.execPath, text, { encoding: 'utf8' }),
  ) as SearchTimes;
  rmSync(log);
  return [
    shown(`${NAME}: all signatures`, allMs, 'ms'),
    barred(`${NAME}: lines per second`, LINES / (allMs / 1000), 'lines/s', {
      atLeast: LINES_PER_SECOND,
    }),
    barred(`${NAME}: ten more signatures / all`, tenMoreMs / allMs, 'times', {
      under: TIMES_TEN_MORE,
    }),
  ];
}
