import { EXIT, type Terminal } from '../../../lib/terminal/terminal.ts';
import { findingId } from '../../../node/checkup/judge-faults.ts';
import { takeSnapshot } from '../../../node/checkup/take-snapshot.ts';
import type { Finding } from '../../../node/model/finding.ts';
import type { LiveNode } from '../../../node/reader/live-node.ts';
import { type Consent, type RecoveryPlan, recover } from '../../../node/repair/recover.ts';
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
  cannotWait,
  isAllRepaired,
  type PlannedRepair,
  plansOf,
  refuseUnsaved,
} from './planned-repair.ts';
import { openFor, type RecoveryRun, stopOf } from './recovery-run.ts';
import type { FaultResult, FindingEnd } from './recovery-totals.ts';

/** Repairs findings of one fault, and checks whether it worked. */
export async function repairFindings(
  planned: PlannedRepair,
  checked: CheckResult,
  run: RecoveryRun,
): Promise<FaultResult> {
  const { options, terminal } = run;
  const { fault, findings, isKubeletUp } = planned;
  const found = new Map(findings.map((finding) => [findingId(fault, finding), finding]));
  const node = openFor(run);
  try {
    const question = `Repair ${findingCounts(findings)}? [y/N] `;
    const decide = ({ finding }: RecoveryPlan) => confirmation(found.get(finding), planned, run);
    const plans = plansOf(planned);
    const result = await carryOut({ plans, question, decide, name: fault.id }, checked, node, run);
    const { ends } = result;
    const next = new Set<string>();
    for (const [id, finding] of found) {
      const { afterwards = '' } = fault.recover?.(finding) ?? {};
      if (ends.get(id) === 'repaired') next.add(isKubeletUp ? afterwards : ASLEEP);
    }
    showNext(next, terminal);
    if (!isAllRepaired(ends) || !options.wait) return result;
    if (cannotWait(planned, terminal)) return { ends, code: EXIT.notDone };
    const snapshot = () => takeSnapshot(node, snapshotOptionsOf(options));
    const hasHealed = await awaitHealing(planned, snapshot, stopOf(run), terminal);
    return { ends, code: hasHealed ? EXIT.clear : EXIT.notDone };
  } finally {
    node.pause();
  }
}

/** What a person is asked to agree to. */
interface Proposal {
  /** In messages. */
  readonly name: string;
  readonly plans: readonly RecoveryPlan[];
  readonly question: string;
  /** What a general yes does not cover. */
  readonly decide: (plan: RecoveryPlan) => Promise<Consent>;
}

/** Saves the evidence, asks, and performs what was agreed to. */
export async function carryOut(
  { name, plans, question, decide }: Proposal,
  checked: CheckResult,
  node: LiveNode,
  run: RecoveryRun,
): Promise<FaultResult> {
  const { options, terminal } = run;
  const all = (end: FindingEnd) => new Map(plans.map(({ finding }) => [finding, end]));
  if (!options.yes && !terminal.isInteractive) {
    refuseToGuess(terminal);
    return { ends: all('refused'), code: EXIT.notDone, isOver: true };
  }
  const stop = stopOf(run);
  const bundleName = bundleNameOf(checked.report, plans[0]?.finding ?? 'none');
  const saved = await saveBundle(checked.bundle(), options.stateFolder, bundleName);
  if ('failure' in saved) return refuseUnsaved(all('refused'), saved, terminal);
  terminal.out(`evidence   saved to ${saved.path}\n`);
  if (!options.yes && !(await terminal.confirm(question, stop))) {
    const why = stop.aborted ? 'stopped' : 'declined';
    terminal.err(`${name}: ${why}; nothing was changed\n`);
    return { ends: all(stop.aborted ? 'refused' : 'left'), code: EXIT.clear };
  }
  const results = await recover(plans, {
    decide,
    saveEvidence: async () => saved,
    openRepair: async () => {
      const repair = await openRepairOn(node, managedNode(options));
      if (!repair.isOpen) return repair;
      showSettled(repair.settled, terminal);
      run.hasSettled = true;
      return repair;
    },
    stop,
    onAction: (action) => ({
      onStep: showSteps(action, terminal),
      onProgress: showProgress(terminal),
    }),
    onPerformed: ({ outcome, action, entry }, { finding }) =>
      showOutcome(outcome, terminal, { action, entry, finding }),
  });
  const ends = all('refused');
  for (const { plan, state } of results) {
    if (state === 'done') ends.set(plan.finding, 'repaired');
    if (state === 'failed') ends.set(plan.finding, 'failed');
  }
  const prevented = results.find((result) => result.state === 'prevented');
  if (!prevented || stop.aborted) return { ends, code: EXIT.clear };
  showOutcome({ state: 'refused', ...prevented.failure }, terminal);
  return { ends, code: EXIT.clear, isOver: true };
}

function refuseToGuess(terminal: Terminal): void {
  terminal.err(
    'refused: there is no terminal to ask on, so nothing was changed\n' +
      '  do    run it again with --yes to act, or with --dry-run to only see the plan\n',
  );
}

/** Asked for by its word, or taken from --confirm. */
async function confirmation(
  finding: Finding | undefined,
  { fault }: PlannedRepair,
  run: RecoveryRun,
): Promise<Consent> {
  const { options, terminal } = run;
  const { confirmation: needed } = (finding && fault.recover?.(finding)) ?? {};
  if (options.confirm !== undefined || !needed || !terminal.isInteractive) {
    return { given: 'to-act', confirmed: options.confirm };
  }
  const question = `${needed.why}\nType ${needed.word} to do it all the same: `;
  return { given: 'to-act', confirmed: await terminal.ask(question, stopOf(run)) };
}
