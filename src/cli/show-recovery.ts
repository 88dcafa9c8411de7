import { findingId } from '../checkup/check-up.ts';
import { waitsFor } from '../checkup/make-report.ts';
import type { Looked } from '../host/take-look.ts';
import type { Action, Outcome } from '../model/action.ts';
import type { AnyFault } from '../model/fault.ts';
import { FINDING_STATES, type Finding } from '../model/finding.ts';
import type { Doubt } from '../model/verdict.ts';
import { wordsOf } from '../operations/action-words.ts';
import type { Progress } from '../repair/handler.ts';
import type { Step } from '../repair/perform.ts';
import type { Settled } from '../repair/settle-unfinished.ts';
import { printable } from '../std/printable.ts';
import { doubtLines } from './choose-findings.ts';
import type { Terminal } from './terminal.ts';
import { wrapQuote, wrapWords } from './wrap.ts';

const LABEL_COLUMNS = 11;
/** More findings that come first than this help nobody to begin. */
const FIRST_SHOWN_MAX = 3;
/** Findings that are left alone: a few show what is meant. */
const LEFT_SHOWN_MAX = 5;

/** What would be done, what it touches and what it leaves alone, before anything is. */
export function showPlan(
  { fault, findings }: { readonly fault: AnyFault; readonly findings: readonly Finding[] },
  { report, judged }: Pick<Looked, 'report' | 'judged'>,
  terminal: Terminal,
): void {
  const recoveries = findings.map((finding) => ({ finding, recovery: fault.recover?.(finding) }));
  terminal.out(`Repairing ${fault.id} will change ${report.node.name}:\n`);
  let number = 0;
  for (const { finding, recovery } of recoveries) {
    for (const action of recovery?.actions ?? []) {
      number += 1;
      const [first = '', ...rest] = actionLines(action, terminal.width - 5);
      terminal.out(`  ${number}. ${first}\n${rest.map((line) => `     ${line}\n`).join('')}`);
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
  paragraph('leaves', recoveries[0]?.recovery?.leaves ?? '', terminal);
}

/** "latent finding a82ba4" */
function nameOf(fault: AnyFault, finding: Finding): string {
  return `${finding.state} finding ${findingId(fault, finding)}`;
}

/** What is found and not touched: it may hurt within a minute, so nobody is to think it is cured. */
export function showLeft(
  fault: AnyFault,
  left: readonly Finding[],
  hint: string,
  terminal: Terminal,
): void {
  for (const [index, finding] of left.slice(0, LEFT_SHOWN_MAX).entries()) {
    const text = `${nameOf(fault, finding)}: ${finding.summary}`;
    paragraph(index === 0 ? 'left' : '', text, terminal);
  }
  const more = left.length - LEFT_SHOWN_MAX;
  if (more > 0) paragraph('', `and ${more} more: kubediag check ${fault.id}`, terminal);
  if (left.length > 0) paragraph('', hint, terminal);
}

/** What only a person can repair, with what is known of how. */
export function showManual(fault: AnyFault, manual: readonly Finding[], terminal: Terminal): void {
  const { out, width } = terminal;
  for (const finding of manual.slice(0, LEFT_SHOWN_MAX)) {
    out(`no automatic repair for ${nameOf(fault, finding)}\n`);
    labelled('why', finding.summary, width, out);
    if (finding.refusal !== undefined) labelled('', finding.refusal, width, out);
    // Commands are there to be copied: never wrapped.
    for (const cure of finding.otherCures) out(`  do    ${printable(cure)}\n`);
  }
  const more = manual.length - LEFT_SHOWN_MAX;
  if (more > 0) out(`no automatic repair for ${more} more: kubediag check ${fault.id}\n`);
}

/** What could not be judged, beside the findings of a fault. */
export function showDoubts(fault: AnyFault, doubts: readonly Doubt[], { err }: Terminal): void {
  err(`unknown: not all of ${fault.id} could be judged\n${doubtLines(doubts)}`);
}

/** "1 active and 2 latent findings" */
export function findingCounts(findings: readonly Finding[]): string {
  const counts = FINDING_STATES.flatMap((state) => {
    const count = findings.filter((finding) => finding.state === state).length;
    return count > 0 ? [`${count} ${state}`] : [];
  });
  const all = counts.join(', ').replace(/, ([^,]*)$/, ' and $1');
  return `${all} finding${findings.length === 1 ? '' : 's'}`;
}

function actionLines(action: Action, width: number): readonly string[] {
  const { deed, details } = wordsOf(action);
  return [...wrapQuote(deed, width), ...details.flatMap((line) => wrapWords(line, width))];
}

function paragraph(label: string, text: string, { width, out }: Terminal): void {
  for (const [index, line] of wrapWords(text, width - LABEL_COLUMNS).entries()) {
    out(`${(index === 0 ? label : '').padEnd(LABEL_COLUMNS)}${line}\n`);
  }
}

const STEP_WORDS: Readonly<Record<Exclude<Step['name'], 'looked again'>, string>> = {
  'intent written': 'wrote the intent into the journal',
  acted: 'acted',
  'looked afterwards': 'looked afterwards',
};

/** A line for each step, on the screen of whoever watches. */
export function showSteps(action: Action, { width, err }: Terminal): (step: Step) => void {
  return ({ name, tookMs }) => {
    const same = `looked again: ${wordsOf(action).same}`;
    const words = `  ${name === 'looked again' ? same : STEP_WORDS[name]}`;
    const right = `${Math.round(tookMs)} ms`;
    err(`${words}${' '.repeat(Math.max(2, width - words.length - right.length))}${right}\n`);
  };
}

const BAR_COLUMNS = 24;

/** A bar that fills up, for a deed that takes its time. */
export function showProgress({ progress }: Terminal): (at: Progress) => void {
  return ({ done, total }) => {
    const full = Math.floor((done / Math.max(1, total)) * BAR_COLUMNS);
    const bar = '#'.repeat(full).padEnd(BAR_COLUMNS, '.');
    progress(done < total ? `  [${bar}] ${done} of ${total}` : '');
  };
}

/** How it ended. A refusal says what to do instead, and how it would be done by hand. */
export function showOutcome(
  outcome: Outcome,
  terminal: Terminal,
  {
    action,
    entry,
    finding,
  }: { action?: Action; entry?: number | undefined; finding?: string | undefined } = {},
): void {
  const { out, style, width } = terminal;
  const where = entry === undefined ? '' : `  journal entry ${entry}`;
  if (outcome.state === 'done') {
    const done = action ? wordsOf(action).done : 'as it should be';
    out(`${style('green', 'done')}  ${done}${where}\n`);
    if (outcome.note) labelled('note', outcome.note, width, out);
    return;
  }
  const which = finding === undefined ? '' : `  finding ${finding}`;
  out(`${style('red', outcome.state)}  ${printable(outcome.what)}${which}${where}\n`);
  labelled('why', outcome.why, width, out);
  labelled('do', outcome.todo, width, out);
  if (outcome.byHand) {
    // Commands are there to be copied: never wrapped.
    for (const command of outcome.byHand.commands) out(`  hand  ${printable(command)}\n`);
    labelled('risk', outcome.byHand.risk, width, out);
  }
}

/** What others do once it is repaired: the same text once, of however many findings it is true. */
export function showNext(texts: ReadonlySet<string>, { width, out }: Terminal): void {
  for (const text of texts) labelled('next', text, width, out);
}

function labelled(label: string, text: string, width: number, out: (text: string) => void): void {
  for (const [index, line] of wrapWords(text, width - 8).entries()) {
    out(`  ${(index === 0 ? label : '').padEnd(6)}${line}\n`);
  }
}

/** What an earlier run had begun and could not finish, as it looks now. */
export function showSettled(settled: readonly Settled[], { err, width }: Terminal): void {
  for (const each of settled) {
    const became =
      'outcome' in each
        ? `${each.outcome.state}: ${each.outcome.state === 'done' ? each.outcome.note : each.outcome.why}`
        : `not settled: ${each.unsettled}`;
    const open = `journal entry ${each.record.entry} of an earlier run was left open; ${became}`;
    err(`${wrapWords(open, width - 2).join('\n  ')}\n`);
  }
}

/** The same where nothing may be changed now. */
export function showUnfinished(entries: readonly number[], { err }: Terminal): void {
  for (const entry of entries) {
    err(`journal entry ${entry} of an earlier run is open; the next repair settles it first\n`);
  }
}
