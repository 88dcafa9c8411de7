import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  afterSecondTry,
  type Counts,
  closingOf,
  countsOf,
  filesToTryAgain,
  nothingBut,
  type SuiteResult,
} from './test-results.ts';
import { missingFor, type Suite, suites } from './test-suites.ts';

/** Runs every suite that this machine can run, one after another, and says which it cannot. */

const SUITE_MS = 30 * 60_000;
const VITEST = 'node_modules/vitest/vitest.mjs';

async function runSuite(suite: Suite, filter: readonly string[]): Promise<SuiteResult> {
  const missing = await missingFor(suite.needs);
  if (missing) return { suite: suite.name, state: 'not-run', why: missing };

  const started = performance.now();
  const tookMs = () => performance.now() - started;
  if (suite.before && (await exitCodeOf('npm', ['run', suite.before])) !== 0) {
    return {
      suite: suite.name,
      state: 'ran',
      ...nothingBut(`npm run ${suite.before}`),
      tookMs: tookMs(),
    };
  }
  const first = await runFiles(suite, filter);
  const again = filesToTryAgain(first);
  if (again.length > 0) console.log(`\n== ${suite.name}, once more: ${again.join(' ')} ==`);
  const counts = again.length > 0 ? afterSecondTry(first, await runFiles(suite, again)) : first;
  // Whoever asked for a part of the tests knows that the others do not run.
  const skipped = filter.length > 0 ? 0 : counts.skipped;
  return { suite: suite.name, state: 'ran', ...counts, skipped, tookMs: tookMs() };
}

async function runFiles(suite: Suite, files: readonly string[]): Promise<Counts> {
  const folder = mkdtempSync(join(tmpdir(), 'kubediag-test-'));
  try {
    const report = join(folder, 'report.json');
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    const args = [VITEST, 'run', '--project', suite.name, ...reporters, ...files];
    const exitCode = await exitCodeOf(process.execPath, args);
    return countsOf(existsSync(report) ? readFileSync(report, 'utf8') : undefined, exitCode);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function exitCodeOf(program: string, args: readonly string[]): Promise<number | null> {
  const child = spawn(program, args, {
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: SUITE_MS,
    killSignal: 'SIGKILL',
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code;
}

/** Whether a filter leaves anything of a suite: then only is it worth fetching what it needs. */
function hasTests(suite: Suite, filter: readonly string[]): boolean {
  const list = ['list', '--filesOnly', '--json', '--project', suite.name, ...filter];
  const { stdout } = spawnSync(process.execPath, [VITEST, ...list], { encoding: 'utf8' });
  return (JSON.parse(stdout) as readonly unknown[]).length > 0;
}

const filter = process.argv.slice(2);
const wanted = filter.length > 0 ? suites.filter((suite) => hasTests(suite, filter)) : suites;
const results: SuiteResult[] = [];
for (const suite of wanted) {
  console.log(`\n== ${suite.name} ==`);
  const result = await runSuite(suite, filter);
  if (result.state === 'not-run') console.log(`not run: ${result.why}`);
  results.push(result);
}
if (results.length === 0) console.log(`No test matches ${filter.join(' ')}.`);

const { ok, lines } = closingOf(results, process.env.KUBEDIAG_REQUIRE_ALL === '1');
console.log(`\n${lines.join('\n')}`);
process.exitCode = ok && results.length > 0 ? 0 : 1;
