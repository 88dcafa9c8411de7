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
  notRun: [],
  outside: [],
  kernel: '6.1',
  kubelet: 'kubelet v1.18.8',
  runtime: 'stand-in',
  tookMs: 6_280,
};

const wide = { width: 120, style: (_: string, text: string) => text };

test('the table has a row for each case, the problems, the cases left out, and a score', () => {
  const lines = examTable(exam, wide).split('\n');
  expect(lines[0]).toMatch(/^CASE +EXPECTED +VERDICT +REPAIR +VERIFIED +SIDE EFFECTS +TIME$/);
  expect(lines[1]).toMatch(
    /^stale-subpath-mount\/secret-active +active +active +done +yes +none +3.1 s$/,
  );
  expect(lines[2]).toMatch(/ unknown +done +yes +1 +3.1 s$/);
  const text = lines.join('\n');
  expect(text).toContain('FAILED  look-alike/');
  expect(text).toContain('  it said <no> & "\\x1b[31m"');
  expect(text).toContain("  side effect: + file /it's");
  expect(text).toContain('left out  one/two\n  no <kubelet>');
  expect(text).toContain('score    1 of 2 passed (1 fault, 1 look-alike, 1 left out) in 6.3 s');
});

test('an exam that changed the machine, or ran no case, is not perfect', () => {
  const fine = { ...exam, cases: [good], failed: 0 };
  expect(isPerfect(fine)).toBe(true);
  expect(isPerfect({ ...fine, outside: ['+ mount /mnt'] })).toBe(false);
  expect(isPerfect({ ...fine, cases: [], passed: 0 })).toBe(false);
  expect(isPerfect(exam)).toBe(false);
  const text = examTable({ ...fine, outside: ['+ mount /mnt'] }, wide);
  expect(text).toContain('FAILED  the machine itself is not as it was\n  + mount /mnt');
});

test('the JUnit output counts the results and escapes every text', () => {
  const xml = examJunit(exam);
  expect(xml).toContain(
    '<testsuite name="kubediag lab exam" tests="5" failures="1" errors="0" skipped="1"',
  );
  expect(xml).toContain(
    '<testcase classname="stale-subpath-mount" name="secret-active" time="3.140"/>',
  );
  expect(xml).toContain('name="&quot;quoted&quot; &lt;name&gt;"');
  expect(xml).toContain('<failure message="it said &lt;no&gt; &amp; &quot;\\x1b[31m&quot;">');
  expect(xml).toContain('side effect: + file /it&apos;s</failure>');
  expect(xml).toContain('<skipped message="no &lt;kubelet&gt;"/>');
  expect(examJunit({ ...exam, outside: ['+ mount /mnt'] })).toContain('failures="2"');
});

test('a narrow screen drops columns, but no problems', () => {
  const why = 'a real kubelet kills and collects what it does not know within seconds, always';
  const name = 'container-without-log-path/installation-running';
  const cases = [{ ...good, name }, bad];
  const full = { ...exam, cases, leftOut: [{ name, why }] };
  const lines = examTable(full, { ...wide, width: 80 }).split('\n');
  expect(lines.filter(({ length }) => length > 80)).toEqual([]);
  expect(lines[0]).toMatch(/^CASE +VERDICT +REPAIR +VERIFIED$/);
  expect(lines).toContain("  side effect: + file /it's");
  const narrow = examTable(full, { ...wide, width: 10 }).split('\n');
  expect(narrow[0]).toMatch(/^CASE +VERDICT +REPAIR$/);
});

test('an interrupted exam is not perfect in any output format', () => {
  const stopped = { ...exam, cases: [good], failed: 0, leftOut: [], notRun: ['one/two', 'one/3'] };
  expect(isPerfect(stopped)).toBe(false);
  expect(isPerfect({ ...stopped, notRun: [] })).toBe(true);
  const paint = (style: string, text: string) => `<${style}>${text}`;
  expect(examTable(stopped, { width: 120, style: paint })).toContain(
    'score    <red>1 of 1 passed (1 fault, 0 look-alikes, interrupted: 2 not run) in',
  );
  const xml = examJunit(stopped);
  expect(xml).toContain('tests="5" failures="0" errors="1" skipped="2"');
  expect(xml).toContain(
    '<testcase classname="one" name="3" time="0.000">\n      <skipped message="the exam was interrupted',
  );
  expect(xml).toContain('<error message="the exam was interrupted: 2 cases not run;');
  expect(xml.match(/<testcase /g)).toHaveLength(5);
  expect(examJunit(exam)).not.toContain('<error');
});
