import { relative } from 'node:path';

/** What became of one suite. */
export type SuiteResult =
  | ({
      readonly suite: string;
      readonly state: 'ran';
      readonly tookMs: number;
    } & Counts)
  | { readonly suite: string; readonly state: 'not-run'; readonly why: string };

/** The part of vitest's JSON report that we count. */
interface VitestReport {
  readonly numPassedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly testResults: readonly FileReport[];
}

interface FileReport {
  readonly name: string;
  readonly status: string;
  readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
}

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** The names of the failed ones, at the end of a long output. */
  readonly failures: readonly string[];
  /** What of the counts lies in files that failed. */
  readonly inFailedFiles: { readonly passed: number; readonly skipped: number };
  /** Those that failed, and passed when their file was run once more, alone. */
  readonly unsteady?: readonly string[];
}

/** More than this is no bad luck. */
const UNSTEADY_FILES_MAX = 3;

/**
 * The files worth a second try: on a machine that does much else, a test of the real kernel or of a
 * real cluster may fail once. What passes then is counted as passed, and still listed by name.
 */
export function filesToTryAgain({ failures }: Counts): readonly string[] {
  const files = new Set(failures.map((failure) => failure.split(': ', 1)[0] ?? ''));
  const areFiles = [...files].every((file) => file.endsWith('.ts'));
  return areFiles && files.size <= UNSTEADY_FILES_MAX ? [...files] : [];
}

/** The counts of a suite whose failed files were run again: those files count by their second run. */
export function afterSecondTry(first: Counts, second: Counts): Counts {
  const failures = first.failures.filter((failure) => !second.failures.includes(failure));
  return {
    passed: first.passed - first.inFailedFiles.passed + second.passed,
    failed: second.failed,
    skipped: first.skipped - first.inFailedFiles.skipped + second.skipped,
    failures: second.failures,
    inFailedFiles: second.inFailedFiles,
    unsteady: failures,
  };
}

/** Counts what vitest reports. Whatever else went wrong with it counts as one failed test. */
export function countsOf(reportText: string | undefined, exitCode: number | null): Counts {
  if (reportText === undefined) return nothingBut('vitest wrote no report');
  const report = JSON.parse(reportText) as VitestReport;
  const failures = report.testResults.flatMap(failuresOf);
  if (failures.length === 0 && exitCode !== 0) failures.push(`vitest ended with ${exitCode}`);
  return {
    passed: report.numPassedTests,
    failed: failures.length,
    skipped: report.numPendingTests + report.numTodoTests,
    failures,
    inFailedFiles: countsInFailedFiles(report),
  };
}

function countsInFailedFiles({ testResults }: VitestReport): Counts['inFailedFiles'] {
  const files = testResults.filter((file) => failuresOf(file).length > 0);
  const states = files.flatMap((file) => file.assertionResults.map(({ status }) => status));
  const passed = states.filter((status) => status === 'passed').length;
  const failed = states.filter((status) => status === 'failed').length;
  return { passed, skipped: states.length - passed - failed };
}

/** A suite that ended before any of its tests. */
export function nothingBut(failure: string): Counts {
  const inFailedFiles = { passed: 0, skipped: 0 };
  return { passed: 0, failed: 1, skipped: 0, failures: [failure], inFailedFiles };
}

function failuresOf({ name, status, assertionResults }: FileReport): readonly string[] {
  const failed = assertionResults.filter((test) => test.status === 'failed');
  // A file that does not load, or whose hooks throw, fails without a failed test in it.
  const file = relative(process.cwd(), name);
  if (status === 'failed' && failed.length === 0) return [file];
  return failed.map(({ fullName }) => `${file}: ${fullName}`);
}

export interface Closing {
  readonly ok: boolean;
  /** The last line is "N passed, N failed" and nothing else. */
  readonly lines: readonly string[];
}

/** With `requireAll`, a suite or a test that was not run is a failed one. */
export function closingOf(results: readonly SuiteResult[], requireAll: boolean): Closing {
  const width = Math.max(...results.map(({ suite }) => suite.length));
  const named = results.flatMap((result) => (result.state === 'ran' ? result.failures : []));
  const unsteady = results.flatMap((each) => (each.state === 'ran' ? (each.unsteady ?? []) : []));
  const lines = [
    ...unsteady.map((name) => `UNSTEADY  ${name}: it failed, and passed when it was run again`),
    ...named.map((name) => `FAILED  ${name}`),
    ...results.map((result) => `${result.suite.padEnd(width)}  ${textOf(result)}`),
  ];
  const passed = sum(results.map((result) => (result.state === 'ran' ? result.passed : 0)));
  const failures = sum(results.map((result) => (result.state === 'ran' ? result.failed : 0)));
  const notRun = sum(results.map((result) => (result.state === 'ran' ? result.skipped : 1)));
  const failed = failures + (requireAll ? notRun : 0);
  if (notRun > 0 && requireAll) {
    lines.push('Not run counts as failed, for KUBEDIAG_REQUIRE_ALL is set.');
  }
  return { ok: failed === 0, lines: [...lines, `${passed} passed, ${failed} failed`] };
}

function textOf(result: SuiteResult): string {
  if (result.state === 'not-run') return `not run: ${result.why}`;
  const { passed, failed, skipped, tookMs } = result;
  const notRun = skipped > 0 ? `, ${skipped} not run` : '';
  return `${passed} passed, ${failed} failed${notRun} in ${(tookMs / 1000).toFixed(1)} s`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
