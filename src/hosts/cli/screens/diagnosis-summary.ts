import { counted } from '../../../lib/std/counted.ts';
import { fieldAt, listAt, textAt } from '../../../lib/std/json.ts';
import { printable } from '../../../lib/std/printable.ts';
import { shellCommand } from '../../../lib/std/shell-command.ts';
import { ageText } from '../../../pipeline/api/columns.ts';
import type { DiagnosisResult } from '../../../pipeline/api/results.ts';
import { resultOf } from '../../../pipeline/graph/result-of.ts';
import { labelLine, sectionOf, textLines } from './described-lines.ts';
import { actionLines, findingLines, plannedLines } from './recorded-lines.ts';

/** The summary of a Diagnosis for a person. No text appears twice. */
export interface DiagnosisSummary {
  readonly lines: readonly string[];
  /** Whether the lines contain this text already. */
  readonly isMentioned: (text: string) => boolean;
}

/** The result, why, what was found, what was done or would be, and what to do next. */
export function diagnosisSummary(
  value: unknown,
  width: number,
  waits: readonly string[] = [],
): DiagnosisSummary {
  const status = fieldAt(value, 'status');
  const result = textAt(status, 'result') ?? resultOf(fieldAt(value, 'spec'), status);
  const why = reasonsIn(status);
  const findings = listAt(status, 'findings') ?? [];
  const actions = (listAt(status, 'actions') ?? []).map((each) => withoutRepeats(each, why));
  const planned = plannedIn(status, findings);
  const texts = [
    ...why,
    ...findings.map((each) => textAt(each, 'summary') ?? ''),
    ...actions.flatMap((each) => textAt(each, 'message') ?? ''),
  ].filter((text) => text !== '');
  const more = (name: string) => Number(fieldAt(status, `${name}NotListed`) ?? 0);
  const lines = [
    labelLine('Result', result ?? ''),
    ...(result === undefined ? [labelLine('Phase', textAt(status, 'phase') || 'Pending')] : []),
    labelLine('Current step', currentStep(status)),
    ...sectionOf('Waits for', waits, textLines, width),
    ...sectionOf('Why', why, textLines, width),
    ...sectionOf('Found', findings, findingLines, width, more('findings')),
    ...sectionOf('Actions', actions, actionLines, width, more('actions')),
    ...sectionOf('Planned', planned, plannedLines, width, more('plannedActions')),
    ...sectionOf('Next', nextFor(value, result as DiagnosisResult), commandLines, width),
  ];
  return {
    lines: lines.filter((line) => line !== ''),
    isMentioned: (asked) => texts.some((text) => asked.includes(text) || text.includes(asked)),
  };
}

/** Conditions of every Diagnosis, and those that the steps or the result repeat. */
const USUAL: ReadonlySet<string> = new Set([
  'ApprovalNeeded',
  'DiagnosisAccepted',
  'DiagnosisComplete',
  'AllPathsFailed',
]);

/** Why it did not repair, or did so in part: what ended it, and what its steps say. */
function reasonsIn(status: unknown): readonly string[] {
  const conditions = (listAt(status, 'conditions') ?? [])
    .filter((each) => textAt(each, 'status') === 'True')
    .filter((each) => !USUAL.has(textAt(each, 'reason') ?? ''))
    .flatMap((each) => textAt(each, 'message') ?? []);
  const steps = (listAt(status, 'steps') ?? [])
    // What it found is among the findings.
    .filter((each) => textAt(each, 'reason') !== 'NotActive')
    .flatMap((each) => {
      const message = textAt(each, 'message');
      return message === undefined ? [] : [`${textAt(each, 'operation')}: ${message}`];
    });
  return [...new Set([...conditions, ...steps])];
}

function withoutRepeats(action: unknown, shown: readonly string[]): unknown {
  const message = textAt(action, 'message');
  if (message === undefined || !shown.some((text) => text.includes(message))) return action;
  const { message: _, ...rest } = action as { readonly message: string };
  return rest;
}

/** What was planned and not done. */
function plannedIn(status: unknown, findings: readonly unknown[]): readonly unknown[] {
  const sameAs = (one: unknown) => (other: unknown) =>
    ['fault', 'finding', 'description'].every(
      (field) => textAt(one, field) === textAt(other, field),
    );
  const done = listAt(status, 'actions') ?? [];
  const seen = new Set(findings.map((each) => textAt(each, 'summary')));
  return (listAt(status, 'plannedActions') ?? [])
    .filter((each) => !done.some(sameAs(each)))
    .map((each) => {
      const { summary, ...rest } = each as { readonly summary?: unknown };
      return seen.has(typeof summary === 'string' ? summary : undefined) ? rest : each;
    });
}

/** Which step runs, since when, and when it is retried. */
function currentStep(status: unknown): string {
  const operation = textAt(status, 'currentStep', 'operation');
  const since = textAt(status, 'currentStep', 'startTime');
  if (operation === undefined || since === undefined) return '';
  const now = new Date();
  const step = `${operation}, since ${since} (${ageText(since, now)})`;
  const attempts = fieldAt(status, 'currentStep', 'attempts');
  if (typeof attempts !== 'number') return step;
  const why = textAt(status, 'currentStep', 'message') ?? '';
  const next = textAt(status, 'currentStep', 'nextAttemptTime') ?? '';
  const tried = `${counted(attempts, 'attempt')} failed`;
  return `${step}; ${tried}, next at ${next}: ${why}`;
}

function nextFor(value: unknown, result: DiagnosisResult | undefined): readonly string[] {
  const name = textAt(value, 'metadata', 'name') ?? '';
  const namespace = textAt(value, 'metadata', 'namespace') ?? 'default';
  const findings = listAt(value, 'status', 'findings') ?? [];
  const faults = [...new Set(findings.flatMap((each) => textAt(each, 'fault') ?? []))];
  const checks = faults.map((fault) => shellCommand(['kubediag', 'check', fault]));
  const command = (verb: string) => shellCommand(['kubediag', verb, name, '-n', namespace]);
  switch (result) {
    case 'WaitingForApproval':
      return [command('approve'), command('cancel')];
    case 'Found':
    case 'Refused':
      return checks;
    case 'NothingFound':
    case 'Repaired':
      return ['nothing to do'];
    default:
      return [];
  }
}

/** A command stays in one line, so that it can be copied. */
function commandLines(each: unknown): readonly string[] {
  return [printable(String(each))];
}
