import { join } from 'node:path';
import { expect, test } from 'vitest';
import { closingOf, countsOf, nothingBut, type SuiteResult } from './test-results.ts';

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
  expect(countsOf(text, exitCode)).toEqual(counts);
});

const unit: SuiteResult = {
  suite: 'unit',
  state: 'ran',
  passed: 12,
  failed: 0,
  skipped: 0,
  failures: [],
  tookMs: 1234,
};
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

test('a failed test fails the whole, and is named', () => {
  const failing: SuiteResult = { ...unit, failed: 1, failures: ['src/a.test.ts: test 1'] };
  const { ok, lines } = closingOf([failing], false);
  expect(ok).toBe(false);
  expect(lines[0]).toBe('FAILED  src/a.test.ts: test 1');
  expect(lines.at(-1)).toBe('12 passed, 1 failed');
});

test('nothing at all is no success to count', () => {
  expect(closingOf([], true).lines).toEqual(['0 passed, 0 failed']);
});
