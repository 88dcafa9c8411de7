import { printable } from '../../std/printable.ts';
import type { CaseResult, ExamResult } from './result.ts';

/** The result as a CI server reads it. What was left out is skipped, with the reason. */
export function examJunit(exam: ExamResult): string {
  const { cases, failed, leftOut, outside, tookMs } = exam;
  const failures = failed + (outside.length > 0 ? 1 : 0);
  const counts = `tests="${cases.length + leftOut.length + 1}" failures="${failures}" skipped="${leftOut.length}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="kubediag lab exam" ${counts} time="${seconds(tookMs)}">`,
    `  <testsuite name="kubediag lab exam" ${counts} errors="0" time="${seconds(tookMs)}">`,
    '    <properties>',
    ...(['kernel', 'kubelet', 'runtime'] as const).map(
      (name) => `      <property name="${name}" value="${escaped(exam[name])}"/>`,
    ),
    '    </properties>',
    ...cases.flatMap(caseLines),
    ...leftOut.flatMap(({ name, why }) =>
      testCase(name, 0, [`      <skipped message="${escaped(why)}"/>`]),
    ),
    ...testCase('the machine/itself', 0, failureOf(outside)),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
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

/** What a node says may hold anything, and XML has no way at all to write most control characters. */
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
