import { EXIT } from '../../../lib/terminal/terminal.ts';
import type { CheckResult } from '../../../node/checkup/run-check.ts';
import type { AnyFault } from '../../../node/model/fault.ts';
import { withConfirmation } from '../../../node/repair/recover.ts';
import { dryRunOn } from '../../local-node/open-repair.ts';
import { bundleOf, checkSaving } from '../../local-node/save-bundle.ts';
import { repairedBefore } from '../input/choose-faults.ts';
import { managedNode } from '../input/open-node.ts';
import { showLeft, showManual, showPlan } from '../screens/show-plan.ts';
import {
  showOutcome,
  showUnfinished,
  showUnknowns,
  unknownLines,
} from '../screens/show-recovery.ts';
import { chooseFindings } from './choose-findings.ts';
import { isInterrupted } from './finish-interrupted.ts';
import {
  cannotWait,
  endsOf,
  isAllRepaired,
  type PlannedRepair,
  plansOf,
  refuseUnsaved,
} from './planned-repair.ts';
import { checkFor, openFor, type RecoveryRun } from './recovery-run.ts';
import type { FaultResult, FindingEnd } from './recovery-totals.ts';
import { repairFindings } from './repair-findings.ts';

/** Checks for one fault, shows what it would do, asks, does it, and checks whether it worked. */
export async function recoverFault(fault: AnyFault, run: RecoveryRun): Promise<FaultResult> {
  const { options, terminal } = run;
  // What must be repaired before is looked for too, so that the plan can say so.
  const checked = await checkFor([fault, ...repairedBefore(fault)], run);
  if ('advice' in checked) {
    terminal.err(checked.advice);
    return { ends: new Map(), code: EXIT.unknown, isOver: true };
  }
  if (run.stop?.aborted) return { ends: new Map(), code: EXIT.notDone, isOver: true };
  const chosen = chooseFindings(fault, checked, options);
  if ('nothing' in chosen) {
    if (await isInterrupted(fault, run)) return { ends: new Map(), code: EXIT.clear };
    terminal.err(`${chosen.nothing}${unknownLines(chosen.unknowns, terminal.errWidth)}`);
    return { ends: new Map(), code: chosen.code };
  }
  const { taken, latent, manual, unknowns } = chosen;
  const isKubeletUp = checked.report.node.kubelet.presence === 'running';
  const planned = { fault, findings: taken, isKubeletUp };
  const isFull = options.verbose ?? false;
  if (taken.length > 0) showPlan(planned, checked, terminal, isFull);
  const latentToo = 'to repair what is latent too: --yes --latent';
  showLeft({ fault, findings: latent }, latentToo, terminal, isFull);
  showManual({ fault, findings: manual }, terminal, isFull);
  if (unknowns.length > 0) showUnknowns(fault, unknowns, terminal);
  const left = endsOf({ fault, findings: [...latent, ...manual] }, 'left');
  const known = unknowns.length > 0 ? EXIT.unknown : EXIT.clear;
  if (taken.length === 0) return { ends: left, code: known };
  run.hasPlanned = true;
  const result = await (options.dryRun
    ? tryOut(planned, checked, run)
    : repairFindings(planned, checked, run));
  const code = result.code === EXIT.clear ? known : result.code;
  return { ...result, code, ends: new Map([...left, ...result.ends]) };
}

/** All pre-checks of a real run. A question is taken to be answered with yes. */
async function tryOut(
  planned: PlannedRepair,
  checked: CheckResult,
  run: RecoveryRun,
): Promise<FaultResult> {
  const { options, terminal } = run;
  const unsaved = await checkSaving(bundleOf(checked), options.stateFolder);
  if (unsaved !== undefined) return refuseUnsaved(endsOf(planned, 'refused'), unsaved, terminal);
  const node = openFor(run);
  try {
    const opened = await dryRunOn(node, managedNode(options));
    if (!opened.isOpen) {
      // It prevents those of any other fault too.
      showOutcome({ state: 'refused', ...opened }, terminal);
      return { ends: endsOf(planned, 'refused'), code: EXIT.clear, isOver: true };
    }
    showUnfinished(opened.unfinished, terminal);
    const ends = new Map<string, FindingEnd>();
    for (const { actions, ...purpose } of plansOf(planned).map((plan) =>
      withConfirmation(plan, options.confirm),
    )) {
      const { finding } = purpose;
      ends.set(finding, 'repaired');
      for (const action of actions) {
        const outcome = await opened.check({ action, ...purpose });
        if (!outcome || outcome.state === 'done') continue;
        showOutcome(outcome, terminal, { finding });
        ends.set(finding, outcome.state === 'failed' ? 'failed' : 'refused');
        break;
      }
    }
    const [again] = await checked.judgeAgain(opened.after);
    const expected = again ? { expected: again.verdict } : {};
    const isWaiting = options.wait && isAllRepaired(ends);
    const code = isWaiting && cannotWait(planned, terminal) ? EXIT.notDone : EXIT.clear;
    return { ends, code, ...expected };
  } finally {
    node.pause();
  }
}
