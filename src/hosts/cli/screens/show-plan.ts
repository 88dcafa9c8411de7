import { counted } from '../../../lib/std/counted.ts';
import type { Terminal } from '../../../lib/terminal/terminal.ts';
import { labelled, labelledText, wrapQuote, wrapText } from '../../../lib/terminal/wrap.ts';
import { findingId } from '../../../node/checkup/judge-faults.ts';
import { waitsFor } from '../../../node/checkup/make-report.ts';
import type { CheckResult } from '../../../node/checkup/run-check.ts';
import type { Action } from '../../../node/model/action.ts';
import type { AnyFault } from '../../../node/model/fault.ts';
import { FINDING_STATES, type Finding } from '../../../node/model/finding.ts';
import { wordsOf } from '../../../pipeline/steps/action-text.ts';
import { hasRepair } from '../recovery/choose-findings.ts';
import { adviceLines } from './advice-lines.ts';
import { findingTable, groupedAlike } from './alike-findings.ts';

const LABEL_COLUMNS = 11;
const INDENT = '  ';
/** More findings that come first than this help nobody to begin. */
const FIRST_SHOWN_MAX = 3;

/** Findings of one fault. */
export interface Listed {
  readonly fault: AnyFault;
  readonly findings: readonly Finding[];
}

/**
 * What would be done, what it touches and what it leaves alone, before anything is. Of findings
 * alike one is shown in full and the others are named: a yes allows each of them.
 */
export function showPlan(
  { fault, findings }: Listed,
  checked: Pick<CheckResult, 'report' | 'judged'>,
  terminal: Terminal,
  isFull = false,
): void {
  const what = `${findingCounts(findings)} of ${fault.id}`;
  terminal.out(`Repairing ${what} will change ${checked.report.node.name}:\n`);
  const numbers = { last: 0 };
  for (const group of groupsOf({ fault, findings }, isFull)) {
    const [first] = group;
    const isReported = (finding: Finding) =>
      finding === first || mustBeReported({ fault, finding }, first, checked.judged);
    for (const finding of group.filter(isReported)) {
      showRepair(fault, finding, checked.judged, numbers, terminal);
    }
    const others = group.filter((finding) => !isReported(finding));
    showTable(fault, others, 'like it, repaired in the same way', terminal);
  }
  const [first] = findings;
  paragraph('leaves', (first && fault.recover?.(first).leaves) ?? '', terminal);
}

/** One that asks for a word of its own, or that waits for another repair than the one shown. */
function mustBeReported(
  { fault, finding }: { readonly fault: AnyFault; readonly finding: Finding },
  shown: Finding,
  judged: CheckResult['judged'],
): boolean {
  const waits = (each: Finding) =>
    [...new Set(waitsFor(fault, each, judged).map((first) => first.fault))].join(' ');
  return fault.recover?.(finding).confirmation !== undefined || waits(finding) !== waits(shown);
}

function showRepair(
  fault: AnyFault,
  finding: Finding,
  judged: CheckResult['judged'],
  numbers: { last: number },
  terminal: Terminal,
): void {
  const recovery = fault.recover?.(finding);
  for (const action of recovery?.actions ?? []) {
    numbers.last += 1;
    const [first = '', ...rest] = actionLines(action, terminal.width - 5);
    terminal.out(`  ${numbers.last}. ${first}\n${rest.map((line) => `     ${line}\n`).join('')}`);
  }
  paragraph('for', `${nameOf(fault, finding)}: ${finding.summary}`, terminal);
  paragraph('touches', recovery?.touches ?? '', terminal);
  for (const first of waitsFor(fault, finding, judged).slice(0, FIRST_SHOWN_MAX)) {
    paragraph('first', `${first.fault} (finding ${first.finding}), for ${first.why}`, terminal);
  }
  const { confirmation } = recovery ?? {};
  if (confirmation) {
    const { why, word } = confirmation;
    paragraph('asks', `${why}. To repair it all the same, add:`, terminal);
    // Never wrapped: a word that is broken in two cannot be copied.
    terminal.out(`${' '.repeat(LABEL_COLUMNS)}--confirm ${word}\n`);
  }
}

/** What is found and not touched: it may become active within a minute, so it must not look repaired. */
export function showLeft(
  { fault, findings }: Listed,
  hint: string,
  terminal: Terminal,
  isFull = false,
): void {
  for (const [index, [first, ...rest]] of groupsOf({ fault, findings }, isFull).entries()) {
    const text = `${nameOf(fault, first)}: ${first.summary}`;
    paragraph(index === 0 ? 'left' : '', text, terminal);
    showTable(fault, rest, 'like it', terminal);
  }
  if (findings.length > 0) paragraph('', hint, terminal);
}

/** What only a person can repair, with what is known of how. */
export function showManual({ fault, findings }: Listed, terminal: Terminal, isFull = false): void {
  const { out, width } = terminal;
  for (const [first, ...rest] of groupsOf({ fault, findings }, isFull)) {
    const lines = [
      `no automatic repair for ${nameOf(fault, first)}`,
      ...labelledText('why', first.summary, width),
      ...(first.refusal === undefined ? [] : labelledText('', first.refusal, width)),
      ...labelled('do', adviceLines(first.alternatives, width - 8)),
    ];
    for (const line of lines) out(`${line}\n`);
    showTable(fault, rest, 'like it, without an automatic repair', terminal);
  }
}

function groupsOf({ fault, findings }: Listed, isFull: boolean) {
  const likenessOf = (each: Finding) => ({ ...each, isOurs: hasRepair(fault, each) });
  return groupedAlike(findings, likenessOf, isFull);
}

function showTable(
  fault: AnyFault,
  findings: readonly Finding[],
  words: string,
  { out, width }: Terminal,
): void {
  if (findings.length === 0) return;
  const rows = findings.map((finding) => ({ ...finding, id: findingId(fault, finding) }));
  out(`${INDENT}${counted(findings.length, 'more finding')} ${words} (-v shows each in full):\n`);
  for (const line of findingTable(rows, width - 2 * INDENT.length))
    out(`${INDENT}${INDENT}${line}\n`);
}

/** "latent finding a82ba4" */
function nameOf(fault: AnyFault, finding: Finding): string {
  return `${finding.state} finding ${findingId(fault, finding)}`;
}

/** "1 active and 2 latent findings" */
export function findingCounts(findings: readonly Finding[]): string {
  const counts = FINDING_STATES.flatMap((state) => {
    const sum = findings.filter((finding) => finding.state === state).length;
    return sum > 0 ? [`${sum} ${state}`] : [];
  });
  const all = counts.join(', ').replace(/, ([^,]*)$/, ' and $1');
  return `${all} finding${findings.length === 1 ? '' : 's'}`;
}

function actionLines(action: Action, width: number): readonly string[] {
  const { description, details } = wordsOf(action);
  return [...wrapQuote(description, width), ...details.flatMap((line) => wrapText(line, width))];
}

function paragraph(label: string, text: string, { width, out }: Terminal): void {
  const lines = labelledText(label, text, width, { columns: LABEL_COLUMNS, indent: '' });
  for (const line of lines) out(`${line}\n`);
}
