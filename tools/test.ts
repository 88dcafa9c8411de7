import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  afterSecondTry,
  type Counts,
  closingOf,
  countsOf,
  filesToTryAgain,
  type SuiteResult,
} from './test-results.ts';
import { missingFor, type Suite, suites } from './test-suites.ts';

/** Runs every suite that this machine can run, in lanes side by side, and says which it cannot. */

const SUITE_MS = 60 * 60_000;
const VITEST = 'node_modules/vitest/vitest.mjs';
const COMPILED = join(import.meta.dirname, '../node_modules/.cache/compiled');

async function runLane(
  lane: readonly Suite[],
  filter: readonly string[],
): Promise<readonly SuiteResult[]> {
  const results: SuiteResult[] = [];
  for (const suite of lane) results.push(await runSuite(suite, filter));
  return results;
}

async function runSuite(suite: Suite, filter: readonly string[]): Promise<SuiteResult> {
  const started = performance.now();
  const first = await runFiles(suite, filter);
  const again = filesToTryAgain(first);
  if (again.length > 0) console.log(`\n== ${suite.name}, once more: ${again.join(' ')} ==`);
  const counts = again.length > 0 ? afterSecondTry(first, await runFiles(suite, again)) : first;
  // The user who selected some tests knows that the others do not run.
  const skipped = filter.length > 0 ? 0 : counts.skipped;
  const tookMs = performance.now() - started;
  return { suite: suite.name, state: 'ran', ...counts, skipped, tookMs };
}

/** What it prints is shown when it has ended, for other suites print as well. */
async function runFiles(suite: Suite, files: readonly string[]): Promise<Counts> {
  const folder = mkdtempSync(join(tmpdir(), 'kubediag-test-'));
  try {
    console.log(`== ${suite.name}: begins ==`);
    const [report, printed] = [join(folder, 'report.json'), join(folder, 'printed')];
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    const args = [VITEST, 'run', '--project', suite.name, ...reporters, ...files];
    const exitCode = await exitCodeOf(process.execPath, args, printed);
    console.log(`\n== ${suite.name} ==\n${readFileSync(printed, 'utf8')}`);
    return countsOf(existsSync(report) ? readFileSync(report, 'utf8') : undefined, exitCode);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function exitCodeOf(
  program: string,
  args: readonly string[],
  printed: string,
): Promise<number | null> {
  const output = openSync(printed, 'w');
  const child = spawn(program, args, {
    // Tests start many programs from our sources, which Node then need not compile each time.
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILED },
    stdio: ['ignore', output, output],
    timeout: SUITE_MS,
    killSignal: 'SIGKILL',
  });
  closeSync(output);
  const [code] = (await once(child, 'exit')) as [number | null];
  return code;
}

/** Asked for one after another, before any test runs: some needs take minutes to fetch or to build. */
async function notRunOf(wanted: readonly Suite[]): Promise<readonly SuiteResult[]> {
  const results: SuiteResult[] = [];
  for (const suite of wanted) {
    const missing = await missingFor(suite.needs);
    if (missing) results.push({ suite: suite.name, state: 'not-run', why: missing });
  }
  return results;
}

/** Whether a filter leaves anything of a suite: then only is it worth fetching what it needs. */
function hasTests(suite: Suite, filter: readonly string[]): boolean {
  const list = ['list', '--filesOnly', '--json', '--project', suite.name, ...filter];
  const { stdout } = spawnSync(process.execPath, [VITEST, ...list], { encoding: 'utf8' });
  return (JSON.parse(stdout) as readonly unknown[]).length > 0;
}

const filter = process.argv.slice(2);
const wanted = filter.length > 0 ? suites.filter((suite) => hasTests(suite, filter)) : suites;
const notRun = await notRunOf(wanted);
for (const result of notRun) {
  if (result.state === 'not-run') console.log(`== ${result.suite} == not run: ${result.why}`);
}
const able = wanted.filter(({ name }) => !notRun.some(({ suite }) => suite === name));
if (able.length > 0) {
  // Every suite runs it: from the sources a command takes several times as long.
  const { status } = spawnSync('npm', ['run', 'build'], { stdio: 'inherit' });
  if (status !== 0) throw new Error('the executable cannot be built');
}
const lanes = Object.values(Object.groupBy(able, ({ lane }) => lane));
const ran = await Promise.all(lanes.map((lane) => runLane(lane, filter)));
const results = [...ran.flat(), ...notRun];
if (results.length === 0) console.log(`No test matches ${filter.join(' ')}.`);

const { ok, lines } = closingOf(results, process.env.KUBEDIAG_REQUIRE_ALL === '1');
console.log(`\n${lines.join('\n')}`);
process.exitCode = ok && results.length > 0 ? 0 : 1;
