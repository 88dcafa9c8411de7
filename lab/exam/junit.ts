import { printable } from '../../src/lib/std/printable.ts';
import type { CaseResult, ExamResult } from './result.ts';

/**
 * The result as JUnit XML. Cases that were left out or did not run are skipped, with the reason. An
 * interrupted exam is a separate error; otherwise it would look successful.
 */
export function examJunit(exam: ExamResult): string {
  const { cases, leftOut, notRun, outside, tookMs } = exam;
  const skipped = [...leftOut, ...notRun.map((name) => ({ name, why: NOT_RUN }))];
  const counts = countsOf(exam, skipped.length);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="kubediag lab exam" ${counts} time="${seconds(tookMs)}">`,
    `  <testsuite name="kubediag lab exam" ${counts} time="${seconds(tookMs)}">`,
    '    <properties>',
    ...(['kernel', 'kubelet', 'runtime'] as const).map(
      (name) => `      <property name="${name}" value="${escaped(exam[name])}"/>`,
    ),
    '    </properties>',
    ...cases.flatMap(caseLines),
    ...skipped.flatMap(({ name, why }) =>
      testCase(name, 0, [`      <skipped message="${escaped(why)}"/>`]),
    ),
    ...testCase('the machine/itself', 0, failureOf(outside)),
    ...testCase('the exam/to its end', 0, interruptionOf(notRun.length)),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

const NOT_RUN = 'the exam was interrupted before this case ended';

/** Two more test cases: the machine is unchanged, and the exam ran to its end. */
function countsOf({ cases, failed, notRun, outside }: ExamResult, skipped: number): string {
  const tests = cases.length + skipped + 2;
  const failures = failed + (outside.length > 0 ? 1 : 0);
  const errors = notRun.length > 0 ? 1 : 0;
  return `tests="${tests}" failures="${failures}" errors="${errors}" skipped="${skipped}"`;
}

function interruptionOf(notRun: number): readonly string[] {
  if (notRun === 0) return [];
  const words = `the exam was interrupted: ${notRun} cases not run; run it again`;
  return [`      <error message="${words}"/>`];
}

function caseLines({ name, tookMs, problems, sideEffects }: CaseResult): readonly string[] {
  const wrong = [...problems, ...sideEffects.map((line) => `side effect: ${line}`)];
  return testCase(name, tookMs, failureOf(wrong));
}

function testCase(name: string, tookMs: number, inner: readonly string[]): readonly string[] {
  const [group = '', variant = ''] = name.split('/');
  const words = `classname="${escaped(group)}" name="${escaped(variant)}" time="${seconds(tookMs)}"`;
  return inner.length === 0
    ? [`    <testcase ${words}/>`]
    : [`    <testcase ${words}>`, ...inner, '    </testcase>'];
}

function failureOf(wrong: readonly string[]): readonly string[] {
  if (wrong.length === 0) return [];
  const text = wrong.map(escaped).join('\n');
  return [`      <failure message="${escaped(wrong[0] ?? '')}">${text}</failure>`];
}

/** The output of a node may contain control characters, and XML cannot represent most of them. */
function escaped(text: string): string {
  return printable(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}
