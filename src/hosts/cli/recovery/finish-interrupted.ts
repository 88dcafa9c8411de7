import { tried } from '../../../lib/state/state-folder.ts';
import { thisProcess } from '../../../lib/state/this-process.ts';
import { EXIT } from '../../../lib/terminal/terminal.ts';
import { wrapText } from '../../../lib/terminal/wrap.ts';
import { findingId } from '../../../node/checkup/judge-faults.ts';
import type { CheckResult } from '../../../node/checkup/run-check.ts';
import type { Action } from '../../../node/model/action.ts';
import type { AnyFault } from '../../../node/model/fault.ts';
import type { LiveNode } from '../../../node/reader/live-node.ts';
import { interruptedPlans, type RecoveryPlan } from '../../../node/repair/recover.ts';
import { wordsOf } from '../../../pipeline/steps/action-text.ts';
import { dryRunOn } from '../../local-node/open-repair.ts';
import { journalIn } from '../commands/journal.ts';
import { managedNode } from '../input/open-node.ts';
import { checkFor, openFor, type RecoveryRun } from './recovery-run.ts';
import type { FaultResult } from './recovery-totals.ts';
import { carryOut } from './repair-findings.ts';

/** Whether the finding that a person named is one that an earlier recovery began to repair. */
export async function isInterrupted({ id }: AnyFault, { options }: RecoveryRun): Promise<boolean> {
  const begun = await begunFindings(options);
  return begun.some(({ fault, finding }) => fault === id && finding === options.finding);
}

type Begun = Pick<RecoveryPlan, 'fault' | 'finding'>;

/** Findings of interrupted plans, and of those that a crash left open within their first action. */
export async function begunFindings(options: RecoveryRun['options']): Promise<readonly Begun[]> {
  const journal = await journalIn(options.stateFolder);
  const { boot } = thisProcess();
  const open = (journal.ok ? journal.value.unfinished : []).filter(
    (record) => record.boot === boot && record.purpose === undefined && record.rest?.length,
  );
  return [...(await plansLeft(options)), ...open];
}

/** What the journal shows as interrupted; nothing where it cannot be read. */
async function plansLeft({
  stateFolder,
}: RecoveryRun['options']): Promise<readonly RecoveryPlan[]> {
  const journal = await tried((async () => interruptedPlans(stateFolder))());
  return journal.ok ? journal.value : [];
}

/**
 * Finishes recoveries that were interrupted between two actions. Half of the finding is repaired, so
 * a check finds nothing, or something else. What has been finished otherwise is left out silently.
 */
export async function finishInterrupted(
  faults: readonly AnyFault[],
  run: RecoveryRun,
): Promise<readonly FaultResult[]> {
  const { options } = run;
  const left = await plansLeft(options);
  const results: FaultResult[] = [];
  for (const fault of faults) {
    const plans = left.filter(
      (plan) => plan.fault === fault.id && plan.finding === (options.finding ?? plan.finding),
    );
    if (plans.length === 0 || run.stop?.aborted) continue;
    const checked = await checkFor([fault], run);
    if ('advice' in checked) break;
    const node = openFor(run);
    results.push(...(await finishPlans(fault, plans, checked, node, run)));
    node.pause();
  }
  return results;
}

async function finishPlans(
  fault: AnyFault,
  interrupted: readonly RecoveryPlan[],
  checked: CheckResult,
  node: LiveNode,
  run: RecoveryRun,
): Promise<readonly FaultResult[]> {
  const { options, terminal } = run;
  const [judged] = checked.judged;
  const found = (judged?.verdict.findings ?? []).map((finding) => findingId(fault, finding));
  const plans: RecoveryPlan[] = [];
  for (const plan of interrupted.filter(({ finding }) => !found.includes(finding))) {
    const actions = await leftOf(plan, await dryRunOn(node, managedNode(options)), run);
    if (actions.length > 0) plans.push({ ...plan, actions });
  }
  if (plans.length === 0) return [];
  for (const plan of plans) {
    terminal.out(`finding ${plan.finding}  an earlier recovery was interrupted; left to do:\n`);
    for (const action of plan.actions) terminal.out(`  will  ${wordsOf(action).description}\n`);
  }
  if (options.dryRun) {
    return [{ ends: new Map(plans.map(({ finding }) => [finding, 'repaired'])), code: EXIT.clear }];
  }
  const question = `Finish ${plans.length === 1 ? 'it' : `these ${plans.length}`}? [y/N] `;
  const decide = async () => ({ given: 'to-act', confirmed: options.confirm }) as const;
  return [await carryOut({ plans, question, decide, name: fault.id }, checked, node, run)];
}

/** The actions that a check of all preconditions lets pass; why the first of them does not is shown. */
async function leftOf(
  { fault, finding, actions }: RecoveryPlan,
  dryRun: Awaited<ReturnType<typeof dryRunOn>>,
  { terminal, options }: RecoveryRun,
): Promise<readonly Action[]> {
  if (!dryRun.isOpen) return [];
  const left: Action[] = [];
  for (const action of actions) {
    const asked =
      options.confirm === undefined ? action : { ...action, confirmed: options.confirm };
    const outcome = await dryRun.check({ action: asked, fault, finding });
    if (outcome?.state === 'done') continue;
    if (!outcome) left.push(action);
    else {
      const why = `finding ${finding}: an earlier recovery was interrupted, and cannot be finished: ${outcome.what}; ${outcome.why}; ${outcome.todo}`;
      terminal.err(`${wrapText(why, terminal.errWidth - 2).join('\n  ')}\n`);
      break;
    }
  }
  return left;
}
