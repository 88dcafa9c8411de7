import { EXIT } from '../../../lib/terminal/exit-codes.ts';
import type { Terminal } from '../../../lib/terminal/terminal.ts';
import { findingId } from '../../../node/checkup/judge-faults.ts';
import { takeSnapshot } from '../../../node/checkup/take-snapshot.ts';
import type { Finding } from '../../../node/model/finding.ts';
import type { OpenRepair } from '../../../node/repair/open-repair.ts';
import { openRepairOn } from '../../local-node/open-repair.ts';
import type { CheckResult } from '../../local-node/run-check.ts';
import { bundleNameOf, saveBundle } from '../../local-node/save-bundle.ts';
import { snapshotOptionsOf } from '../command-line/options.ts';
import { managedNode } from '../input/open-node.ts';
import { findingCounts } from '../screens/show-plan.ts';
import {
  showNext,
  showOutcome,
  showProgress,
  showSettled,
  showSteps,
} from '../screens/show-recovery.ts';
import { awaitHealing } from './await-healing.ts';
import {
  ASLEEP,
  actionsOf,
  cannotWait,
  endsOf,
  isAllRepaired,
  type PlannedRepair,
  refuseAll,
  refuseUnsaved,
} from './planned-repair.ts';
import { openFor, type RecoveryRun, stopOf } from './recovery-run.ts';
import type { FaultResult, FindingEnd } from './recovery-totals.ts';

/** Saves the evidence, asks, acts, and looks whether it worked. */
export async function repairFindings(
  planned: PlannedRepair,
  looked: CheckResult,
  run: RecoveryRun,
): Promise<FaultResult> {
  const { options, terminal } = run;
  const refused = endsOf(planned, 'refused');
  if (!options.yes && !terminal.isInteractive) {
    refuseToGuess(terminal);
    return { ends: refused, code: EXIT.notDone, isOver: true };
  }
  const stop = stopOf(run);
  const saved = await saveBundle(looked.bundle(), options.stateFolder, bundleName(planned, looked));
  if ('failure' in saved) return refuseUnsaved(planned, saved, terminal);
  terminal.out(`evidence   saved to ${saved.path}\n`);
  const question = `Repair ${findingCounts(planned.findings)}? [y/N] `;
  if (!options.yes && !(await terminal.confirm(question, stop))) {
    const why = stop.aborted ? 'stopped' : 'declined';
    terminal.err(`${planned.fault.id}: ${why}; nothing was changed\n`);
    return { ends: stop.aborted ? refused : endsOf(planned, 'left'), code: EXIT.clear };
  }
  const words = await confirmedText(planned, run, stop);

  const node = openFor(run);
  try {
    const opened = await openRepairOn(node, managedNode(options));
    if (!opened.isOpen) return refuseAll(planned, { state: 'refused', ...opened }, terminal);
    showSettled(opened.settled, terminal);
    run.hasSettled = true;
    // Whoever only watches keeps nobody else from acting.
    const ends = await performAll(planned, opened, { words, stop }, terminal).finally(opened.close);
    if (!isAllRepaired(ends) || !options.wait) return { ends, code: EXIT.clear };
    if (cannotWait(planned, terminal)) return { ends, code: EXIT.notDone };
    const settings = snapshotOptionsOf(options);
    const hasHealed = await awaitHealing(
      planned,
      () => takeSnapshot(node, settings),
      stop,
      terminal,
    );
    return { ends, code: hasHealed ? EXIT.clear : EXIT.notDone };
  } finally {
    node.pause();
  }
}

function refuseToGuess(terminal: Terminal): void {
  terminal.err(
    'refused: there is no terminal to ask on, so nothing was changed\n' +
      '  do    run it again with --yes to act, or with --dry-run to only see the plan\n',
  );
}

/** What a general yes does not cover: asked for word by word, or taken from --confirm. */
async function confirmedText(
  { fault, findings }: PlannedRepair,
  { options, terminal }: RecoveryRun,
  stop: AbortSignal,
): Promise<ReadonlyMap<Finding, string>> {
  const words = new Map<Finding, string>();
  for (const finding of findings) {
    const { confirmation } = fault.recover?.(finding) ?? {};
    if (options.confirm !== undefined) words.set(finding, options.confirm);
    else if (confirmation && terminal.isInteractive) {
      const question = `${confirmation.why}\nType ${confirmation.word} to do it all the same: `;
      words.set(finding, await terminal.ask(question, stop));
    }
  }
  return words;
}

/** One action at a time. The actions of a finding build on each other; findings do not. */
async function performAll(
  planned: PlannedRepair,
  repair: OpenRepair & { readonly isOpen: true },
  given: { readonly words: ReadonlyMap<Finding, string>; readonly stop: AbortSignal },
  terminal: Terminal,
): Promise<ReadonlyMap<string, FindingEnd>> {
  const { fault, findings, isKubeletUp } = planned;
  const ends = new Map(endsOf(planned, 'refused'));
  const next = new Set<string>();
  for (const finding of findings) {
    if (given.stop.aborted) break;
    const end = await performOne(planned, finding, repair, given, terminal);
    ends.set(findingId(fault, finding), end);
    const { afterwards = '' } = fault.recover?.(finding) ?? {};
    if (end === 'repaired') next.add(isKubeletUp ? afterwards : ASLEEP);
  }
  showNext(next, terminal);
  return ends;
}

async function performOne(
  { fault }: PlannedRepair,
  finding: Finding,
  repair: OpenRepair & { readonly isOpen: true },
  given: { readonly words: ReadonlyMap<Finding, string>; readonly stop: AbortSignal },
  terminal: Terminal,
): Promise<FindingEnd> {
  const id = findingId(fault, finding);
  for (const action of actionsOf(fault, finding, given.words.get(finding))) {
    const wish = {
      stop: given.stop,
      onStep: showSteps(action, terminal),
      onProgress: showProgress(terminal),
    };
    const { outcome, entry } = await repair.perform({ action, fault: fault.id, finding: id }, wish);
    showOutcome(outcome, terminal, { action, entry, finding: id });
    if (outcome.state === 'refused') return 'refused';
    if (outcome.state !== 'done') return 'failed';
  }
  return 'repaired';
}

function bundleName({ fault, findings }: PlannedRepair, { report }: CheckResult): string {
  const [finding] = findings;
  return bundleNameOf(report, finding ? findingId(fault, finding) : 'none');
}
