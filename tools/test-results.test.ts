import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  afterSecondTry,
  closingOf,
  countsOf,
  filesToTryAgain,
  nothingBut,
  type SuiteResult,
} from './test-results.ts';

const file = (status: string, ...tests: string[]) => ({
  name: join(process.cwd(), 'src/a.test.ts'),
  status,
  assertionResults: tests.map((state, at) => ({ status: state, fullName: `test ${at}` })),
});

function report(counts: object, testResults: readonly object[] = []): string {
  const none = { numPassedTests: 0, numPendingTests: 0, numTodoTests: 0 };
  return JSON.stringify({ ...none, ...counts, testResults });
}

test.each([
  [
    'all passed',
    report({ numPassedTests: 2 }),
    0,
    { passed: 2, failed: 0, skipped: 0, failures: [] },
  ],
  [
    'a test failed',
    report({ numPassedTests: 1 }, [file('failed', 'passed', 'failed')]),
    1,
    { passed: 1, failed: 1, skipped: 0, failures: ['src/a.test.ts: test 1'] },
  ],
  [
    'a file did not load',
    report({ numPassedTests: 1 }, [file('passed', 'passed'), file('failed')]),
    1,
    { passed: 1, failed: 1, skipped: 0, failures: ['src/a.test.ts'] },
  ],
  [
    'all passed, and yet vitest is not content',
    report({ numPassedTests: 1 }, [file('passed', 'passed')]),
    1,
    { passed: 1, failed: 1, skipped: 0, failures: ['vitest ended with 1'] },
  ],
  [
    'a test was skipped',
    report({ numPassedTests: 1, numPendingTests: 1, numTodoTests: 1 }),
    0,
    { passed: 1, failed: 0, skipped: 2, failures: [] },
  ],
  ['there is no report', undefined, null, nothingBut('vitest wrote no report')],
])('counts when %s', (_, text, exitCode, counts) => {
  expect(countsOf(text, exitCode)).toMatchObject(counts);
});

const unit: SuiteResult = {
  suite: 'unit',
  state: 'ran',
  passed: 12,
  failed: 0,
  skipped: 0,
  failures: [],
  inFailedFiles: { passed: 0, skipped: 0 },
  tookMs: 1234,
};

const broken = countsOf(
  report({ numPassedTests: 5, numPendingTests: 1 }, [
    file('failed', 'passed', 'failed', 'skipped'),
    { ...file('passed', 'passed', 'passed', 'passed', 'passed'), name: 'src/b.test.ts' },
  ]),
  1,
);

test('a file that failed is tried again, and counts by its second run', () => {
  expect(filesToTryAgain(broken)).toEqual(['src/a.test.ts']);
  const whole = report({ numPassedTests: 3 }, [file('passed', 'passed', 'passed', 'passed')]);
  const second = afterSecondTry(broken, countsOf(whole, 0));
  expect(second).toMatchObject({ passed: 7, failed: 0, skipped: 0, failures: [] });
  const { ok, lines } = closingOf([{ ...unit, ...second }], true);
  expect(ok).toBe(true);
  expect(lines[0]).toMatch(/^UNSTEADY {2}src\/a.test.ts: test 1: /);
});

test('what fails twice has failed', () => {
  const second = afterSecondTry(broken, broken);
  expect(second).toMatchObject({ failed: 1, failures: ['src/a.test.ts: test 1'], unsteady: [] });
});

test('nothing is tried again when much has failed, or no file is to blame', () => {
  const failures = ['a', 'b', 'c', 'd'].map((name) => `src/${name}.test.ts: x`);
  expect(filesToTryAgain({ ...broken, failures })).toEqual([]);
  expect(filesToTryAgain(nothingBut('npm run build'))).toEqual([]);
});
const kernel: SuiteResult = { suite: 'kernel', state: 'not-run', why: 'it needs root' };

test('a suite that could not run is listed with its reason, and fails nobody', () => {
  expect(closingOf([unit, kernel], false)).toEqual({
    ok: true,
    lines: [
      'unit    12 passed, 0 failed in 1.2 s',
      'kernel  not run: it needs root',
      '12 passed, 0 failed',
    ],
  });
});

test('where all is required, what was not run has failed', () => {
  const skipping: SuiteResult = { ...unit, skipped: 3 };
  const { ok, lines } = closingOf([skipping, kernel], true);
  expect(ok).toBe(false);
  expect(lines.at(-1)).toBe('12 passed, 4 failed');
});

test('a failed test fails the run, and is named', () => {
  const failing: SuiteResult = { ...unit, failed: 1, failures: ['src/a.test.ts: test 1'] };
  const { ok, lines } = closingOf([failing], false);
  expect(ok).toBe(false);
  expect(lines[0]).toBe('FAILED  src/a.test.ts: test 1');
  expect(lines.at(-1)).toBe('12 passed, 1 failed');
});

test('nothing at all is no success to count', () => {
  expect(closingOf([], true).lines).toEqual(['0 passed, 0 failed']);
});
