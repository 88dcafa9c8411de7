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
  /** The names of the failed ones, for whoever sees the end of a long output only. */
  readonly failures: readonly string[];
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
  };
}

/** A suite that ended before any of its tests. */
export function nothingBut(failure: string): Counts {
  return { passed: 0, failed: 1, skipped: 0, failures: [failure] };
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
  const lines = [
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
