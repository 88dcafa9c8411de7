import { thisProcess } from '../../lib/state/this-process.ts';
import type { Action, Failure, Outcome } from '../model/action.ts';
import { type JournalRecord, readJournal } from './journal.ts';
import { REST_CHARACTERS_MAX } from './limits.ts';
import type { OpenRepair, PerformOptions } from './open-repair.ts';

/** What is to be done about one finding. */
export interface RecoveryPlan {
  /** The ids of the fault and of the finding. */
  readonly fault: string;
  readonly finding: string;
  /** One after another: each builds on the one before it. */
  readonly actions: readonly Action[];
  /** The whole plan, of which an interrupted attempt has performed the rest; the journal has it. */
  readonly resumes?: readonly Action[];
}

export type Consent =
  /** With the word that a person typed, where the plan asks for one. */
  | { readonly given: 'to-act'; readonly confirmed?: string | undefined }
  /** Only to report what would be done. */
  | { readonly given: 'to-plan' }
  | { readonly given: 'none'; readonly why: string };

export interface PerformedAction {
  readonly action: Action;
  readonly outcome: Outcome;
  /** Its number in the journal, when the intent was written. */
  readonly entry?: number | undefined;
  readonly endTime: Date;
}

export type PlanResult = { readonly plan: RecoveryPlan } & (
  | { readonly state: 'planned' }
  | { readonly state: 'declined'; readonly why: string }
  /** Nothing was tried: the evidence cannot be saved, the node is locked, or somebody stopped it. */
  | { readonly state: 'prevented'; readonly failure: Failure }
  /** The last action explains a refusal or a failure. */
  | {
      readonly state: 'done' | 'refused' | 'failed';
      readonly performed: readonly PerformedAction[];
    }
);

export interface RecoveryHost {
  /** Asked once for each plan, before anything is changed. */
  readonly decide: (plan: RecoveryPlan) => Promise<Consent>;
  /** Without the evidence nothing is changed. */
  readonly saveEvidence: (
    first: RecoveryPlan,
  ) => Promise<{ readonly path: string } | { readonly failure: string; readonly todo?: string }>;
  readonly openRepair: () => Promise<OpenRepair>;
  /** The step of a Diagnosis; none for a person. */
  readonly purpose?: string | undefined;
  readonly stop: AbortSignal;
  readonly onAction?: (action: Action) => Pick<PerformOptions, 'onStep' | 'onProgress'>;
  readonly onPerformed?: (performed: PerformedAction, plan: RecoveryPlan) => void;
}

/** Carries out plans: asks, saves the evidence, takes the node's lock, and performs their actions. */
export async function recover(
  plans: readonly RecoveryPlan[],
  host: RecoveryHost,
): Promise<readonly PlanResult[]> {
  const results: PlanResult[] = [];
  const agreed: RecoveryPlan[] = [];
  for (const plan of plans) {
    const consent = await host.decide(plan);
    if (consent.given === 'to-plan') results.push({ plan, state: 'planned' });
    else if (consent.given === 'none') results.push({ plan, state: 'declined', why: consent.why });
    else agreed.push(withConfirmation(plan, consent.confirmed));
  }
  const [first] = agreed;
  if (!first) return results;
  const saved = await host.saveEvidence(first);
  const prevented = (failure: Failure) => [
    ...results,
    ...agreed.map((plan) => ({ plan, state: 'prevented', failure }) as const),
  ];
  if ('failure' in saved) {
    const { failure: why, todo = 'fix that, then recover again' } = saved;
    const what = 'the evidence cannot be saved';
    return prevented({ what, why, todo: `${todo}; nothing was changed` });
  }
  const repair = await host.openRepair();
  if (!repair.isOpen) {
    const { isOpen: _, ...failure } = repair;
    return prevented(failure);
  }
  try {
    // A plan that is refused does not keep the others from being carried out.
    for (const plan of agreed) results.push(await carryOut(plan, repair, host));
    return results;
  } finally {
    // Also after a mistake of ours: nobody else could repair this node until we end.
    repair.close();
  }
}

const STOPPED: Failure = {
  what: 'stopped',
  why: 'you asked to stop',
  todo: 'nothing was changed for this finding',
};

async function carryOut(
  plan: RecoveryPlan,
  repair: OpenRepair & { readonly isOpen: true },
  { purpose, stop, onAction, onPerformed }: RecoveryHost,
): Promise<PlanResult> {
  if (stop.aborted) return { plan, state: 'prevented', failure: STOPPED };
  const { fault, finding, actions } = plan;
  const performed: PerformedAction[] = [];
  let isRecorded = plan.resumes !== undefined;
  for (const [index, action] of actions.entries()) {
    const rest = isRecorded ? undefined : restOf(actions.slice(index + 1));
    const intent = { action, fault, finding, purpose, rest };
    const { outcome, entry } = await repair.perform(intent, { stop, ...onAction?.(action) });
    isRecorded ||= entry !== undefined;
    const ended = { action, outcome, entry, endTime: new Date() };
    performed.push(ended);
    onPerformed?.(ended, plan);
    if (outcome.state === 'done') continue;
    return { plan, state: outcome.state === 'refused' ? 'refused' : 'failed', performed };
  }
  return { plan, state: 'done', performed };
}

/** The handler of each action checks that the word names the right pod or container. */
export function withConfirmation(plan: RecoveryPlan, confirmed: string | undefined): RecoveryPlan {
  if (confirmed === undefined) return plan;
  return { ...plan, actions: plan.actions.map((action) => ({ ...action, confirmed })) };
}

/** Not what would fill the journal: such a plan is for one thing, which is found until all is done. */
function restOf(actions: readonly Action[]): readonly Action[] | undefined {
  return JSON.stringify(actions).length <= REST_CHARACTERS_MAX ? actions : undefined;
}

/**
 * What is left of the newest plan for one finding, of which an attempt was interrupted. A check finds
 * something else by then, or nothing: half of it is repaired.
 */
export function remainingPlan(done: readonly JournalRecord[]): RecoveryPlan | undefined {
  const first = done.findLast(({ rest }) => Array.isArray(rest));
  if (!first) return undefined;
  const { fault, finding } = first;
  const isDone = new Set(done.map(({ action }) => JSON.stringify(asPlanned(action))));
  const resumes = [first.action, ...(first.rest ?? [])].map(asPlanned);
  const actions = resumes.filter((action) => !isDone.has(JSON.stringify(action)));
  return actions.length === 0 ? undefined : { fault, finding, actions, resumes };
}

/**
 * Without what one attempt added to it. A word that a person typed holds for that attempt only: the
 * handler of the action demands it again.
 */
function asPlanned(recorded: Action): Action {
  const { confirmed: _, seenGone: __, ...action } = recorded;
  return action;
}

/** What people's recoveries of this boot have left to do; what a Diagnosis left, that one finishes. */
export function interruptedPlans(stateFolder: string): readonly RecoveryPlan[] {
  const { boot } = thisProcess();
  const done = readJournal(stateFolder).records.filter(
    (record) =>
      record.boot === boot && record.purpose === undefined && record.outcome?.state === 'done',
  );
  const byFinding = Map.groupBy(done, ({ fault, finding }) => `${fault} ${finding}`);
  return [...byFinding.values()].flatMap((records) => remainingPlan(records) ?? []);
}
