import type { Explanation } from '../../lib/std/explanation.ts';
import { findingId } from '../../node/checkup/judge-faults.ts';
import type { CheckResult } from '../../node/checkup/run-check.ts';
import type { AnyFault, Recovery } from '../../node/model/fault.ts';
import type { Finding } from '../../node/model/finding.ts';
import type { JournalRecord } from '../../node/repair/journal.ts';
import {
  type PerformedAction,
  type PlanResult,
  type RecoveryPlan,
  recover,
  remainingPlan,
} from '../../node/repair/recover.ts';
import { type ActionRecord, actionRecord } from '../steps/action-text.ts';
import type { StepRecord } from '../steps/operation-result.ts';
import type { RecoveryRequest } from '../steps/recovery-request.ts';
import { isActionOn } from './pod-scope.ts';
import type { EarlierActions, ProcessorHost } from './processor-host.ts';

export type Recovered = { readonly id: string; readonly record: StepRecord } & (
  | { readonly state: 'done' | 'planned' }
  /** Refused, unless one of its actions was begun and did not come about. */
  | { readonly state: 'refused' | 'failed'; readonly why: string }
);

/** What is to be repaired, and what earlier attempts of this step have done already. */
export interface RecoveryTask {
  readonly fault: AnyFault;
  readonly findings: readonly Finding[];
  readonly earlier: readonly JournalRecord[];
  /** Ids of findings that an earlier attempt began to repair, and a new check does not find. */
  readonly begun: readonly string[];
}

/**
 * Carries out what a fault plans for the findings of a check, and what is left of interrupted plans.
 */
export async function recoverFindings(
  task: RecoveryTask,
  checked: CheckResult,
  host: ProcessorHost,
): Promise<readonly Recovered[]> {
  const { fault, findings, earlier, begun } = task;
  const requests = new Map<RecoveryPlan, RecoveryRequest>();
  const recovered: Recovered[] = [];
  for (const id of begun) {
    const plan = remainingPlan(earlier.filter(({ finding }) => finding === id));
    const foreign = plan && foreignText(plan, host);
    if (foreign) recovered.push({ id, state: 'refused', why: `refused: ${foreign}`, record: {} });
    else if (plan) requests.set(plan, resumption(plan));
    else recovered.push({ id, state: 'done', record: {} });
  }
  for (const finding of findings) {
    const id = findingId(fault, finding);
    const recovery = fault.recover?.(finding);
    const plan = { fault: fault.id, finding: id, actions: recovery?.actions ?? [] };
    const isGone = (podUid: string) => host.hasSeenGone(podUid, id);
    const foreign = foreignText(plan, host);
    const refusal = recovery
      ? (foreign ?? refusalOf(fault, finding, recovery, isGone))
      : `${fault.id} has no recovery`;
    if (foreign) {
      recovered.push({ id, state: 'refused', why: `refused: ${foreign}`, record: {} });
    } else if (recovery && refusal === undefined) {
      requests.set(plan, { ...recovery, ...plan, summary: finding.summary });
    } else {
      recovered.push({ id, state: 'refused', why: `refused: ${refusal}`, record: planned(plan) });
    }
  }
  const results = await recover([...requests.keys()], {
    ...host,
    decide: (plan) => host.consent(requests.get(plan) as RecoveryRequest),
    saveEvidence: ({ finding }) => host.saveEvidence(checked, finding),
  });
  return [...recovered, ...results.map(recoveredOf)].map((each) => withActions(each, earlier));
}

/** Set if a plan changes more than the pod of the step. */
function foreignText(
  { actions }: Pick<RecoveryPlan, 'actions'>,
  { scope }: ProcessorHost,
): string | undefined {
  if (!scope || actions.every((action) => isActionOn(action, scope))) return undefined;
  const todo = 'repair it with a Diagnosis of the node, without podReference';
  return `its repair changes more than pod ${scope.namespace}/${scope.name}; ${todo}`;
}

/** Asks again for consent, because the person may have changed their mind. */
function resumption({ fault, finding, resumes = [] }: RecoveryPlan): RecoveryRequest {
  const whole = { actions: resumes, touches: 'what the plan named', leaves: 'all else' };
  const summary = 'A recovery was interrupted between two of its actions.';
  return { fault, finding, summary, ...whole };
}

function recoveredOf(result: PlanResult): Recovered {
  const { plan } = result;
  const id = plan.finding;
  if (result.state === 'planned') return { id, state: 'planned', record: planned(plan) };
  if (result.state === 'declined' || result.state === 'prevented') {
    const why = 'why' in result ? result.why : failureText('refused', result.failure);
    return { id, state: 'refused', why, record: planned(plan) };
  }
  const { state, performed } = result;
  const record = { actions: performed.map((each) => performedRecord(each, plan)) };
  if (state === 'done') return { id, state, record };
  return { id, state, why: record.actions.at(-1)?.message ?? '', record };
}

function planned(plan: RecoveryPlan): StepRecord {
  return { plannedActions: plan.actions.map((action) => actionRecord(action, plan)) };
}

function performedRecord(
  { action, outcome, entry, endTime }: PerformedAction,
  plan: RecoveryPlan,
): ActionRecord {
  return {
    ...actionRecord(action, plan),
    state: outcome.state,
    endTime: wholeSeconds(endTime.toISOString()),
    ...(entry === undefined ? {} : { journalEntry: entry }),
    ...(outcome.state === 'done' ? {} : { message: failureText(outcome.state, outcome) }),
  };
}

/** What became of a recovery, with what an earlier attempt has done for it. */
function withActions(recovered: Recovered, earlier: readonly JournalRecord[]): Recovered {
  const own = earlier.filter(({ finding }) => finding === recovered.id);
  if (own.length === 0) return recovered;
  const { actions: before = [] } = actionsOf(own);
  const { record } = recovered;
  return { ...recovered, record: { ...record, actions: [...before, ...(record.actions ?? [])] } };
}

/** What no policy and no yes covers: only a person can go on from here. */
function refusalOf(
  fault: AnyFault,
  finding: Finding,
  recovery: Recovery,
  isGone: (podUid: string) => boolean,
): string | undefined {
  const { summary, refusal, alternatives, mustName = [] } = finding;
  if (recovery.actions.length === 0) {
    const [first = { text: `kubediag explain ${fault.id} shows the manual steps` }] = alternatives;
    const cure = [first.text, first.command].filter((part) => part !== undefined).join(' ');
    return `there is no repair for it: ${summary}${refusal ? `; ${refusal}` : ''}; ${cure}`;
  }
  const { confirmation } = recovery;
  if (!confirmation || (mustName.length > 0 && mustName.every(isGone))) return undefined;
  const { why, word } = confirmation;
  const command = `kubediag recover ${fault.id} --finding ${findingId(fault, finding)}`;
  // The command comes first: a status has only the beginning of a long message.
  return `only a person can confirm it (${command} --confirm ${word}): ${why}`;
}

/**
 * What an earlier attempt of this step has done for a fault. A new check does not find it any more, and
 * that is no failure: it is what was wanted.
 */
export async function doneBefore(fault: AnyFault, host: ProcessorHost): Promise<EarlierActions> {
  const before = await host.earlierActions();
  if (before.isKnown) {
    return { isKnown: true, done: before.done.filter((each) => each.fault === fault.id) };
  }
  const what =
    'this step had begun to change the node, and it cannot be seen yet what became of it';
  return { isKnown: false, why: `refused: ${what}: ${before.why}; kubediag recover settles it` };
}

/** Actions of the journal, as the status of a Diagnosis lists them. */
export function actionsOf(done: readonly JournalRecord[]): StepRecord {
  return {
    actions: done.map((record) => {
      const { action, entry, at } = record;
      const endTime = wholeSeconds(at);
      return { ...actionRecord(action, record), state: 'done', endTime, journalEntry: entry };
    }),
  };
}

// 2026-01-02T03:04:05.678Z
function wholeSeconds(time: string): string {
  return time.replace(/[.]\d+Z$/, 'Z');
}

function failureText(state: string, { what, why, todo }: Explanation): string {
  return `${state}: ${what}; ${why}; ${todo}`;
}
