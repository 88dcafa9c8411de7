import { counted } from '../../src/lib/std/counted.ts';
import type { Terminal } from '../../src/lib/terminal/terminal.ts';
import { wrapText } from '../../src/lib/terminal/wrap.ts';
import type { CaseResult, ExamResult } from './result.ts';

type Screen = Pick<Terminal, 'width' | 'style'>;
type Paint = Screen['style'];

const COLUMNS: Readonly<Record<string, (each: CaseResult) => string>> = {
  CASE: ({ name }) => name,
  EXPECTED: ({ expected }) => stateText(expected.verdict, expected.state),
  VERDICT: ({ verdict, state }) => stateText(verdict, state),
  REPAIR: ({ repair }) => repair,
  VERIFIED: ({ verified }) => verified,
  'SIDE EFFECTS': ({ sideEffects }) =>
    sideEffects.length === 0 ? 'none' : `${sideEffects.length}`,
  TIME: ({ tookMs }) => seconds(tookMs),
};
/** A narrow screen drops these columns first: the text below the table has the problems. */
const SPARED = ['SIDE EFFECTS', 'EXPECTED', 'TIME', 'VERIFIED'];
const GAP = '  ';
const INDENT = '  ';
/** Lines of one case: a node with very many differences would fill the screen. */
const LINES_SHOWN_MAX = 12;

/** The table, the problems and the score, within the width of the screen if possible. */
export function examTable(exam: ExamResult, screen: Screen): string {
  const { style } = screen;
  return [
    ...tableLines(exam.cases, screen),
    ...exam.cases.filter(({ passed }) => !passed).flatMap((each) => failureLines(each, screen)),
    ...outsideLines(exam, screen),
    ...leftOutLines(exam, screen),
    '',
    scoreLine(exam, style),
    `on       kernel ${exam.kernel}`,
    `         ${exam.kubelet}`,
    `         ${exam.runtime}`,
    '',
  ].join('\n');
}

function tableLines(cases: readonly CaseResult[], screen: Screen): readonly string[] {
  const columns = Object.entries(COLUMNS).map(([heading, cellOf]) => {
    const cells = [heading, ...cases.map(cellOf)];
    const width = cells.reduce((most, { length }) => Math.max(most, length), 0);
    return { heading, cells: cells.map((cell) => cell.padEnd(width)), width };
  });
  const widthOf = (shown: typeof columns) =>
    shown.reduce((sum, { width }) => sum + width, GAP.length * (shown.length - 1));
  let shown = columns;
  for (const spared of SPARED) {
    if (widthOf(shown) <= screen.width) break;
    shown = shown.filter(({ heading }) => heading !== spared);
  }
  const lineAt = (at: number) =>
    shown
      .map(({ cells }) => cells[at])
      .join(GAP)
      .trimEnd();
  const body = cases.map(({ passed }, at) => {
    const line = lineAt(at + 1);
    return passed ? line : screen.style('red', line);
  });
  return [screen.style('bold', lineAt(0)), ...body];
}

/** The state implies the verdict, so it is shown alone. */
function stateText(verdict: string, state: string | undefined): string {
  return verdict === 'unknown' ? verdict : (state ?? verdict);
}

function failureLines({ name, problems, sideEffects }: CaseResult, screen: Screen) {
  return [
    '',
    `${screen.style('red', 'FAILED')}  ${screen.style('bold', name)}`,
    ...shortened([...problems, ...sideEffects.map((line) => `side effect: ${line}`)], screen),
  ];
}

function outsideLines({ outside }: ExamResult, screen: Screen): readonly string[] {
  if (outside.length === 0) return [];
  return [
    '',
    `${screen.style('red', 'FAILED')}  the machine itself is not as it was`,
    ...shortened(outside, screen),
  ];
}

function shortened(lines: readonly string[], screen: Screen): readonly string[] {
  const left = lines.length - LINES_SHOWN_MAX;
  return [
    ...lines.slice(0, LINES_SHOWN_MAX).flatMap((line) => indented(line, screen)),
    ...(left > 0 ? [`  and ${left} more: -o json`] : []),
  ];
}

function leftOutLines({ leftOut }: ExamResult, screen: Screen): readonly string[] {
  if (leftOut.length === 0) return [];
  return [
    '',
    ...leftOut.flatMap(({ name, why }) => [`left out  ${name}`, ...indented(why, screen)]),
  ];
}

function indented(text: string, { width }: Screen): readonly string[] {
  return wrapText(text, width - INDENT.length).map((line) => `${INDENT}${line}`);
}

function scoreLine(exam: ExamResult, paint: Paint): string {
  const { cases, passed, failed, leftOut, notRun, tookMs } = exam;
  const lookAlikes = cases.filter(({ kind }) => kind === 'look-alike').length;
  const parts = [
    counted(cases.length - lookAlikes, 'fault'),
    counted(lookAlikes, 'look-alike'),
    ...(leftOut.length === 0 ? [] : [`${leftOut.length} left out`]),
    ...(notRun.length === 0 ? [] : [`interrupted: ${notRun.length} not run`]),
  ];
  const score = `${passed} of ${cases.length} passed`;
  const isGood = failed === 0 && cases.length > 0 && notRun.length === 0;
  return `score    ${paint(isGood ? 'green' : 'red', score)} (${parts.join(', ')}) in ${seconds(tookMs)}`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
