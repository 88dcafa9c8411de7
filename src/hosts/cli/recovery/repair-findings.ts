import { EXIT, type Terminal } from '../../../lib/terminal/terminal.ts';
import { collect, findingId } from '../../../node/checkup/judge-faults.ts';
import type { CheckResult } from '../../../node/checkup/run-check.ts';
import { takeSnapshot } from '../../../node/checkup/take-snapshot.ts';
import { attempt, type Snapshot } from '../../../node/model/evidence.ts';
import type { Finding } from '../../../node/model/finding.ts';
import type { LiveNode } from '../../../node/reader/live-node.ts';
import { type Consent, type RecoveryPlan, recover } from '../../../node/repair/recover.ts';
import { sleepUntilStopped } from '../../../pipeline/store/sleep-until-stopped.ts';
import { openRepairOn } from '../../local-node/open-repair.ts';
import { bundleNameOf, bundleOf, saveBundle } from '../../local-node/save-bundle.ts';
import { snapshotOptionsOf } from '../command-line/options.ts';
import { managedNode } from '../input/open-node.ts';
import { findingCounts, type Listed } from '../screens/show-plan.ts';
import {
  showNext,
  showOutcome,
  showProgress,
  showSettled,
  showSteps,
} from '../screens/show-recovery.ts';
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

/** The kubelet's longest back-off is 5 min; a slow start of the container comes on top. */
const HEALING_MS_MAX = 6 * 60_000;
const CHECK_EVERY_MS = 1_000;
const REPORT_EVERY_MS = 10_000;

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
  const saved = await saveBundle(bundleOf(checked), options.stateFolder, bundleName);
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

/** Looks until what was to follow has followed for every finding, or the limit is reached. */
export async function awaitHealing(
  { fault, findings }: Listed,
  snapshot: () => Snapshot,
  stop: AbortSignal,
  terminal: Terminal,
): Promise<boolean> {
  const { healedMeans = 'nothing is left to wait for' } = fault;
  const begun = performance.now();
  let lastReported = begun;
  for (let now = begun; now - begun < HEALING_MS_MAX && !stop.aborted; now = performance.now()) {
    const evidence = await attempt(collect(fault.needs, snapshot()));
    if (
      evidence.known &&
      findings.every((each) => fault.hasHealed?.(each, evidence.value) ?? true)
    ) {
      terminal.progress('');
      terminal.out(`healed  ${healedMeans}, ${seconds(now - begun)} after the recovery\n`);
      return true;
    }
    const waited = `waiting for the kubelet, ${seconds(now - begun)} of at most ${seconds(HEALING_MS_MAX)}`;
    terminal.progress(waited);
    if (!terminal.isInteractive && now - lastReported >= REPORT_EVERY_MS) {
      terminal.err(`${waited}\n`);
      lastReported = now;
    }
    await sleepUntilStopped(CHECK_EVERY_MS, stop);
  }
  terminal.err(
    stop.aborted
      ? 'stopped waiting; the recovery itself is done\n'
      : `not healed yet: the recovery is done, but it was not seen that ${healedMeans}\n` +
          '  do    see what the kubelet says in its log, then: kubediag check\n',
  );
  return false;
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}
