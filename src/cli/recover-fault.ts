import { findingId } from '../checkup/check-up.ts';
import { dryRunOn } from '../host/hands-on.ts';
import type { AnyFault } from '../model/fault.ts';
import { repairedBefore } from './choose-faults.ts';
import { chooseFindings, doubtLines } from './choose-findings.ts';
import { EXIT } from './exit-codes.ts';
import { nodeInHand, openNode } from './open-node.ts';
import { actionsOf, endsOf, type PlannedRepair, refuseAll } from './planned-repair.ts';
import { checkFor, type RecoveryRun } from './recovery-run.ts';
import type { FaultResult, FindingEnd } from './recovery-totals.ts';
import { repairFindings } from './repair-findings.ts';
import { showLeft, showManual, showOutcome, showPlan } from './show-recovery.ts';
import { tellAbandoned } from './tell-abandoned.ts';

/** Checks for one fault, shows what it would do, asks, does it, and looks whether it worked. */
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
    terminal.err(chosen.nothing);
    return { ends: new Map(), code: chosen.code };
  }
  const { taken, latent, manual, doubts } = chosen;
  const isKubeletUp = checked.report.node.kubelet.presence === 'running';
  const planned = { fault, findings: taken, isKubeletUp };
  if (taken.length > 0) showPlan(planned, checked, terminal);
  showLeft(fault, latent, 'to repair what is latent too: --yes --latent', terminal);
  showManual(fault, manual, terminal);
  if (doubts.length > 0) {
    terminal.err(`unknown: not all of ${fault.id} could be judged\n${doubtLines(doubts)}`);
  }
  const left = endsOf({ fault, findings: [...latent, ...manual] }, 'left');
  if (taken.length === 0) return { ends: left, code: EXIT.clear };
  const result = await (options.dryRun
    ? tryOut(planned, run)
    : repairFindings(planned, checked, run));
  return { ...result, ends: new Map([...left, ...result.ends]) };
}

/** All pre-checks of a real run. A question is taken to be answered with yes. */
async function tryOut(planned: PlannedRepair, run: RecoveryRun): Promise<FaultResult> {
  const { options, terminal } = run;
  const { fault, findings } = planned;
  const node = openNode(options);
  try {
    const opened = await dryRunOn(node, nodeInHand(options));
    if (!opened.isOpen) return refuseAll(planned, { state: 'refused', ...opened }, terminal);
    for (const entry of opened.unfinished) {
      terminal.err(
        `journal entry ${entry} of an earlier run is open; a real run settles it first\n`,
      );
    }
    const ends = new Map<string, FindingEnd>();
    for (const finding of findings) {
      const id = findingId(fault, finding);
      ends.set(id, 'repaired');
      for (const action of actionsOf(fault, finding, options.confirm)) {
        const outcome = await opened.check({ action, fault: fault.id, finding: id });
        if (!outcome || outcome.state === 'done') continue;
        showOutcome(outcome, terminal, { finding: id });
        ends.set(id, 'refused');
        break;
      }
    }
    return { ends, code: EXIT.clear };
  } finally {
    node.close();
    await tellAbandoned(node, terminal);
  }
}
