import { defined } from '../../lib/std/defined.ts';
import { findingId } from '../../node/checkup/judge-faults.ts';
import type { Action, Failure } from '../../node/model/action.ts';
import { leadsToCommand } from '../../node/model/advice.ts';
import type { AnyFault, Recovery } from '../../node/model/fault.ts';
import type { Finding } from '../../node/model/finding.ts';
import type { JournalRecord } from '../../node/repair/journal.ts';
import { type ActionRecord, actionRecord, attemptedActionRecord } from './action-record.ts';
import { REST_CHARACTERS_MAX } from './limits.ts';
import type { StepRecord } from './operation-result.ts';
import type { Judgement, ProcessorHost } from './processor-host.ts';

export type Recovered =
  | { readonly state: 'done' | 'planned'; readonly record: StepRecord }
  /** Refused, unless one of its actions was begun and did not come about. */
  | {
      readonly state: 'refused' | 'failed';
      readonly why: string;
      readonly record: StepRecord;
    };

/** Carries out what a fault wants to be done about a finding, one action after another. */
export async function recoverFinding(
  fault: AnyFault,
  finding: Finding,
  { storeEvidence }: Pick<Judgement, 'storeEvidence'>,
  host: ProcessorHost,
): Promise<Recovered> {
  const recovery = fault.recover?.(finding);
  if (!recovery) return { state: 'refused', why: `${fault.id} has no recovery`, record: {} };
  const { actions } = recovery;
  const id = findingId(fault, finding);
  const purpose = { fault: fault.id, finding: id };
  const record = { plannedActions: actions.map((action) => actionRecord(action, purpose)) };
  const refusal = refusalOf(fault, finding, recovery);
  if (refusal !== undefined) return { state: 'refused', why: `refused: ${refusal}`, record };
  const consent = await host.consent(recovery, finding, { fault: fault.id, id });
  if (consent.given === 'to-plan') return { state: 'planned', record };
  if (consent.given === 'none') return { state: 'refused', why: consent.why, record };
  const stored = await storeEvidence(id);
  if ('failure' in stored) return { state: 'refused', why: unsaved(stored), record };
  return performed({ fault, id, actions, isReported: false }, host);
}

/**
 * Finishes a recovery that was interrupted between two of its actions. A new check finds
 * something else by now, or nothing: half of it is done. Each action is still refused when anything
 * stands against it.
 */
export async function finishRecovery(
  fault: AnyFault,
  id: string,
  actionRecords: readonly JournalRecord[],
  { storeEvidence }: Pick<Judgement, 'storeEvidence'>,
  host: ProcessorHost,
): Promise<Recovered> {
  const isDone = new Set(actionRecords.map(({ action }) => JSON.stringify(action)));
  // The newest plan counts: an attempt that still found it has made its own.
  const first = actionRecords.findLast(({ rest }) => Array.isArray(rest));
  const plan = first ? [first.action, ...(first.rest ?? [])] : [];
  const actions = plan.filter((action) => !isDone.has(JSON.stringify(action)));
  if (actions.length === 0) return { state: 'done', record: actionsOf(actionRecords) };
  // It was agreed to, and is asked for once more: who agrees may have changed their mind.
  const whole = { actions: plan, touches: 'what the plan named', leaves: 'all else' };
  const summary = 'A recovery broke off between two of its actions.';
  const consent = await host.consent(whole, { summary }, { fault: fault.id, id });
  if (consent.given === 'to-act') {
    const stored = await storeEvidence(id);
    const ended: Recovered =
      'failure' in stored
        ? { state: 'refused', why: unsaved(stored), record: {} }
        : await performed({ fault, id, actions, isReported: true }, host);
    return withActions(actionRecords, ended);
  }
  const left = actions.map((action) => actionRecord(action, { fault: fault.id, finding: id }));
  const record = { plannedActions: left, ...actionsOf(actionRecords) };
  if (consent.given === 'to-plan') return { state: 'planned', record };
  return { state: 'refused', why: consent.why, record };
}

/** What became of a recovery, with what an earlier attempt has done for it. */
export function withActions(
  actionRecords: readonly JournalRecord[],
  recovered: Recovered,
): Recovered {
  if (actionRecords.length === 0) return recovered;
  const { actions: before = [] } = actionsOf(actionRecords);
  const { record } = recovered;
  return { ...recovered, record: { ...record, actions: [...before, ...(record.actions ?? [])] } };
}

function unsaved({ failure, todo }: { readonly failure: string; readonly todo?: string }): string {
  const advice = todo === undefined ? '' : `; ${todo}`;
  return `refused: the evidence cannot be saved: ${failure}; nothing was changed${advice}`;
}

/** What no policy and no yes covers: only a person can go on from here. */
function refusalOf(fault: AnyFault, finding: Finding, recovery: Recovery): string | undefined {
  const { summary, refusal, alternatives } = finding;
  if (recovery.actions.length === 0) {
    const [first = `kubediag explain ${fault.id} shows the manual steps`, next] = alternatives;
    const cure = leadsToCommand(first) && next !== undefined ? `${first} ${next}` : first;
    return `there is no repair for it: ${summary}${refusal ? `; ${refusal}` : ''}; ${cure}`;
  }
  const { confirmation } = recovery;
  if (!confirmation) return undefined;
  const { why, word } = confirmation;
  const command = `kubediag recover ${fault.id} --finding ${findingId(fault, finding)}`;
  // The command comes first: a status has only the beginning of a long message.
  return `only a person can confirm it (${command} --confirm ${word}): ${why}`;
}

interface Plan {
  readonly fault: AnyFault;
  /** Of the finding. */
  readonly id: string;
  readonly actions: readonly Action[];
  /** Whether the journal knows it already. */
  readonly isReported: boolean;
}

async function performed(
  { fault, id, actions, isReported: wasReported }: Plan,
  { openRepair, purpose, stop }: ProcessorHost,
): Promise<Recovered> {
  const repair = await openRepair();
  if (!repair.isOpen) return { state: 'refused', why: text('refused', repair), record: {} };
  const done: ActionRecord[] = [];
  let isReported = wasReported;
  try {
    for (const [index, action] of actions.entries()) {
      const rest = isReported ? undefined : restOf(actions.slice(index + 1));
      const intent = { action, fault: fault.id, finding: id, purpose, rest };
      const { outcome, entry } = await repair.perform(intent, { stop });
      isReported ||= entry !== undefined;
      const description = defined({
        ...actionRecord(action, intent),
        state: outcome.state,
        endTime: new Date().toISOString(),
        journalEntry: entry,
      });
      if (outcome.state !== 'done') {
        const why = text(outcome.state, outcome);
        const state = outcome.state === 'refused' ? 'refused' : 'failed';
        return { state, why, record: { actions: [...done, { ...description, message: why }] } };
      }
      done.push(description);
    }
    return { state: 'done', record: { actions: done } };
  } finally {
    // Also by a mistake of ours: nobody else could repair this node until we end.
    repair.close();
  }
}

/** Not what would fill the journal: such a plan is for one thing, which is found until all is done. */
function restOf(actions: readonly Action[]): readonly Action[] | undefined {
  return JSON.stringify(actions).length <= REST_CHARACTERS_MAX ? actions : undefined;
}

export type DoneBefore =
  | { readonly isKnown: true; readonly actionRecords: readonly JournalRecord[] }
  | { readonly isKnown: false; readonly why: string };

/**
 * What an earlier attempt of this step has done for a fault. A new check does not find it any more, and
 * that is no failure: it is what was wanted.
 */
export async function doneBefore(fault: AnyFault, host: ProcessorHost): Promise<DoneBefore> {
  const before = await host.earlierActions();
  if (before.isKnown) {
    return { isKnown: true, actionRecords: before.done.filter((each) => each.fault === fault.id) };
  }
  const what =
    'this step had begun to change the node, and it cannot be seen yet what became of it';
  return { isKnown: false, why: `refused: ${what}: ${before.why}; kubediag recover settles it` };
}

export function actionsOf(actionRecords: readonly JournalRecord[]): StepRecord {
  return { actions: actionRecords.map(attemptedActionRecord) };
}

function text(state: string, { what, why, todo }: Failure): string {
  return `${state}: ${what}; ${why}; ${todo}`;
}
