import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { EXECUTABLE } from '../test/rig/run-kubediag.ts';
import { busyNodeRows } from './bench/busy-node.ts';
import { mountTableRows } from './bench/mount-table.ts';
import { jsonOf, type Row, tableOf } from './bench/row.ts';
import { startRows } from './bench/start.ts';

/** Measures what we promise of speed and size, and ends with 1 when a bar is missed. */

const SOURCES = join(import.meta.dirname, '../src');

function buildIfOld(): void {
  const builtMs = existsSync(EXECUTABLE) ? statSync(EXECUTABLE).mtimeMs : 0;
  const isOld = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).some(
    (path) => statSync(join(SOURCES, path)).mtimeMs > builtMs,
  );
  if (!isOld) return;
  const words = [join(import.meta.dirname, 'build.ts')];
  execFileSync(process.execPath, words, { stdio: ['ignore', 'ignore', 'inherit'] });
}

const { values } = parseArgs({ options: { output: { type: 'string', short: 'o' } } });
if (values.output !== undefined && values.output !== 'json') {
  throw new Error(`-o ${values.output}: json is the only other output`);
}
buildIfOld();
const scratch = mkdtempSync(join(tmpdir(), 'kubediag-bench-'));
const rows: Row[] = [];
try {
  const groups = [startRows, () => mountTableRows(scratch), busyNodeRows];
  for (const group of groups) rows.push(...(await group()));
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
process.stdout.write(values.output === 'json' ? jsonOf(rows) : tableOf(rows));
process.exitCode = rows.every(({ ok }) => ok) ? 0 : 1;
