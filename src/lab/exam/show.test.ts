import { expect, test } from 'vitest';
import { examJunit } from './junit.ts';
import { type CaseResult, type ExamResult, isPerfect } from './result.ts';
import { examTable } from './table.ts';

const good: CaseResult = {
  name: 'stale-subpath-mount/secret-active',
  kind: 'fault',
  about: 'a Secret changes',
  expected: { verdict: 'found', state: 'active', repair: 'done' },
  verdict: 'found',
  state: 'active',
  repair: 'done',
  verified: 'yes',
  sideEffects: [],
  problems: [],
  passed: true,
  tookMs: 3_140,
  parts: {},
};
const bad: CaseResult = {
  ...good,
  name: 'look-alike/"quoted" <name>',
  kind: 'look-alike',
  verdict: 'unknown',
  problems: ['it said <no> & "\u001b[31m"'],
  sideEffects: ["+ file /it's"],
  passed: false,
};
const exam: ExamResult = {
  cases: [good, bad],
  passed: 1,
  failed: 1,
  leftOut: [{ name: 'one/two', why: 'no <kubelet>' }],
  outside: [],
  kernel: '6.1',
  kubelet: 'kubelet v1.18.8',
  runtime: 'stand-in',
  tookMs: 6_280,
};

test('the table has a row for each case, what went wrong, what was left out, and a score', () => {
  const lines = examTable(exam, (_, text) => text).split('\n');
  expect(lines[0]).toMatch(/^CASE +EXPECTED +VERDICT +REPAIR +VERIFIED +SIDE EFFECTS +TIME$/);
  expect(lines[1]).toMatch(
    /^stale-subpath-mount\/secret-active +active +active +done +yes +none +3.1 s$/,
  );
  expect(lines[2]).toMatch(/ unknown +done +yes +1 +3.1 s$/);
  const text = lines.join('\n');
  expect(text).toContain('FAILED  look-alike/');
  expect(text).toContain('  it said <no> & "\\x1b[31m"');
  expect(text).toContain("  side effect: + file /it's");
  expect(text).toContain('left out  one/two: no <kubelet>');
  expect(text).toContain('score    1 of 2 passed (1 faults, 1 look-alikes, 1 left out) in 6.3 s');
});

test('the machine itself counts, too, and no case at all is not perfect', () => {
  const fine = { ...exam, cases: [good], failed: 0 };
  expect(isPerfect(fine)).toBe(true);
  expect(isPerfect({ ...fine, outside: ['+ mount /mnt'] })).toBe(false);
  expect(isPerfect({ ...fine, cases: [], passed: 0 })).toBe(false);
  expect(isPerfect(exam)).toBe(false);
  const text = examTable({ ...fine, outside: ['+ mount /mnt'] }, (_, words) => words);
  expect(text).toContain('FAILED  the machine itself is not as it was\n  + mount /mnt');
});

test('JUnit gets what it can read', () => {
  const xml = examJunit(exam);
  expect(xml).toContain('<testsuite name="kubediag lab exam" tests="4" failures="1" skipped="1"');
  expect(xml).toContain(
    '<testcase classname="stale-subpath-mount" name="secret-active" time="3.140"/>',
  );
  expect(xml).toContain('name="&quot;quoted&quot; &lt;name&gt;"');
  expect(xml).toContain('<failure message="it said &lt;no&gt; &amp; &quot;\\x1b[31m&quot;">');
  expect(xml).toContain('side effect: + file /it&apos;s</failure>');
  expect(xml).toContain('<skipped message="no &lt;kubelet&gt;"/>');
  expect(examJunit({ ...exam, outside: ['+ mount /mnt'] })).toContain('failures="2"');
});
