import { printable } from '../../../lib/std/printable.ts';
import type { Terminal } from '../../../lib/terminal/terminal.ts';
import { apart, labelledText, wrapText } from '../../../lib/terminal/wrap.ts';
import type { Action, Outcome } from '../../../node/model/action.ts';
import type { AnyFault } from '../../../node/model/fault.ts';
import type { Unknown } from '../../../node/model/verdict.ts';
import type { Progress } from '../../../node/repair/handler.ts';
import type { Step } from '../../../node/repair/perform.ts';
import type { Settled } from '../../../node/repair/settle-unfinished.ts';
import { wordsOf } from '../../../pipeline/steps/action-text.ts';

/** What could not be judged, beside the findings of a fault. */
export function showUnknowns(
  fault: AnyFault,
  unknowns: readonly Unknown[],
  terminal: Terminal,
): void {
  const { err, errWidth } = terminal;
  err(`unknown: not all of ${fault.id} could be judged\n${unknownLines(unknowns, errWidth)}`);
}

/** Why a fault, or a part of it, could not be judged, and what a person can do. */
export function unknownLines(unknowns: readonly Unknown[], width: number): string {
  const lines = unknowns.flatMap(({ why, manual }) => [
    ...labelledText('why', why, width),
    ...(manual ? labelledText('risk', manual.risk, width) : []),
    ...(manual?.commands ?? []).map((text) => `  run   ${printable(text)}`),
  ]);
  return lines.map((line) => `${line}\n`).join('');
}

const STEP_TEXT: Readonly<Record<Exclude<Step['name'], 'checked again'>, string>> = {
  'intent written': 'wrote the intent into the journal',
  acted: 'acted',
  'checked afterwards': 'checked the result',
};

/** A line for each step, on the screen. */
export function showSteps(action: Action, { errWidth, err }: Terminal): (step: Step) => void {
  return ({ name, tookMs }) => {
    const same = `checked again: ${wordsOf(action).same}`;
    const words = `  ${name === 'checked again' ? same : STEP_TEXT[name]}`;
    const right = `${Math.round(tookMs)} ms`;
    err(`${apart(words, right, errWidth)}\n`);
  };
}

const BAR_COLUMNS = 24;

/** A progress bar for a long action. */
export function showProgress({ progress }: Terminal): (at: Progress) => void {
  return ({ done, total }) => {
    const full = Math.floor((done / Math.max(1, total)) * BAR_COLUMNS);
    const bar = '#'.repeat(full).padEnd(BAR_COLUMNS, '.');
    progress(done < total ? `  [${bar}] ${done} of ${total}` : '');
  };
}

/** How it ended. A refusal says what to do instead, with the manual steps. */
export function showOutcome(
  outcome: Outcome,
  terminal: Terminal,
  {
    action,
    entry,
    finding,
  }: { action?: Action; entry?: number | undefined; finding?: string | undefined } = {},
): void {
  const { out, style } = terminal;
  const where = entry === undefined ? '' : `  journal entry ${entry}`;
  if (outcome.state === 'done') {
    const done = action ? wordsOf(action).done : 'as it should be';
    out(`${style('green', 'done')}  ${done}${where}\n`);
    if (outcome.note) show('note', outcome.note, terminal);
    return;
  }
  const which = finding === undefined ? '' : `  finding ${finding}`;
  out(`${style('red', outcome.state)}  ${printable(outcome.what)}${which}${where}\n`);
  show('why', outcome.why, terminal);
  show('do', outcome.todo, terminal);
  if (outcome.manual) {
    // Commands are there to be copied: never wrapped.
    show('risk', outcome.manual.risk, terminal);
    for (const command of outcome.manual.commands) out(`  run   ${printable(command)}\n`);
  }
}

/** What others do once it is repaired: the same text once, of however many findings it is true. */
export function showNext(texts: ReadonlySet<string>, terminal: Terminal): void {
  for (const text of texts) show('next', text, terminal);
}

function show(label: string, text: string, { width, out }: Terminal): void {
  for (const line of labelledText(label, text, width)) out(`${line}\n`);
}

/** What an earlier run had begun and could not finish, as it looks now. */
export function showSettled(settled: readonly Settled[], { err, errWidth }: Terminal): void {
  for (const each of settled) {
    const became =
      'outcome' in each
        ? `${each.outcome.state}: ${each.outcome.state === 'done' ? each.outcome.note : each.outcome.why}`
        : `not settled: ${each.unsettled}`;
    const open = `journal entry ${each.record.entry} of an earlier run was left open; ${became}`;
    err(`${wrapText(open, errWidth - 2).join('\n  ')}\n`);
  }
}

/** The same where nothing may be changed now. */
export function showUnfinished(entries: readonly number[], { err }: Terminal): void {
  for (const entry of entries) {
    err(`journal entry ${entry} of an earlier run is open; the next repair settles it first\n`);
  }
}
