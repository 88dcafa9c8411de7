import { printable } from '../../std/printable.ts';
import type { CaseResult, ExamResult } from './result.ts';

type Paint = (style: 'bold' | 'dim' | 'red' | 'green' | 'yellow', text: string) => string;

const HEADINGS = ['CASE', 'EXPECTED', 'VERDICT', 'REPAIR', 'VERIFIED', 'SIDE EFFECTS', 'TIME'];
const GAP = '  ';
/** Of one case: a node that is quite another one would fill the screen. */
const LINES_SHOWN_MAX = 12;

/** The table, what went wrong, and the score. */
export function examTable(exam: ExamResult, paint: Paint): string {
  const rows = exam.cases.map(cellsOf);
  const widths = HEADINGS.map((heading, at) =>
    rows.reduce((most, row) => Math.max(most, (row[at] ?? '').length), heading.length),
  );
  const lineOf = (cells: readonly string[]) =>
    cells
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join(GAP)
      .trimEnd();
  const body = exam.cases.map((each, at) => {
    const line = lineOf(rows[at] ?? []);
    return each.passed ? line : paint('red', line);
  });
  return [
    paint('bold', lineOf(HEADINGS)),
    ...body,
    ...exam.cases.filter(({ passed }) => !passed).flatMap((each) => failureLines(each, paint)),
    ...outsideLines(exam, paint),
    ...leftOutLines(exam),
    '',
    scoreLine(exam, paint),
    `on       kernel ${exam.kernel}; ${exam.kubelet}; ${exam.runtime}`,
    '',
  ].join('\n');
}

function cellsOf({ name, expected, verdict, state, ...rest }: CaseResult): readonly string[] {
  const { repair, verified, sideEffects, tookMs } = rest;
  return [
    name,
    stateWord(expected.verdict, expected.state),
    stateWord(verdict, state),
    repair,
    verified,
    sideEffects.length === 0 ? 'none' : String(sideEffects.length),
    seconds(tookMs),
  ];
}

/** The state says more than the verdict, and holds it. */
function stateWord(verdict: string, state: string | undefined): string {
  return verdict === 'unknown' ? verdict : (state ?? verdict);
}

function failureLines({ name, problems, sideEffects }: CaseResult, paint: Paint) {
  return [
    '',
    `${paint('red', 'FAILED')}  ${paint('bold', name)}`,
    ...shortened([...problems, ...sideEffects.map((line) => `side effect: ${line}`)]),
  ];
}

function outsideLines({ outside }: ExamResult, paint: Paint): readonly string[] {
  if (outside.length === 0) return [];
  return [
    '',
    `${paint('red', 'FAILED')}  the machine itself is not as it was`,
    ...shortened(outside),
  ];
}

function shortened(lines: readonly string[]): readonly string[] {
  const left = lines.length - LINES_SHOWN_MAX;
  return [
    ...lines.slice(0, LINES_SHOWN_MAX).map((line) => `  ${printable(line)}`),
    ...(left > 0 ? [`  and ${left} more: -o json`] : []),
  ];
}

function leftOutLines({ leftOut }: ExamResult): readonly string[] {
  if (leftOut.length === 0) return [];
  return ['', ...leftOut.map(({ name, why }) => `left out  ${name}: ${printable(why)}`)];
}

function scoreLine(exam: ExamResult, paint: Paint): string {
  const { cases, passed, failed, leftOut, tookMs } = exam;
  const lookAlikes = cases.filter(({ kind }) => kind === 'look-alike').length;
  const missing = leftOut.length === 0 ? '' : `, ${leftOut.length} left out`;
  const made = `${cases.length - lookAlikes} faults, ${lookAlikes} look-alikes${missing}`;
  const score = `${passed} of ${cases.length} passed`;
  const isGood = failed === 0 && cases.length > 0;
  return `score    ${paint(isGood ? 'green' : 'red', score)} (${made}) in ${seconds(tookMs)}`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
