import { EXIT, type Terminal, UsageError } from '../../../lib/terminal/terminal.ts';
import { findingId, type Judged } from '../../../node/checkup/judge-faults.ts';
import { faults } from '../../../node/faults/index.ts';
import type { AnyFault } from '../../../node/model/fault.ts';
import type { Finding } from '../../../node/model/finding.ts';
import { endCachedReader } from '../../../node/reader/cached-reader.ts';
import { dryRunOn, openRepairOn } from '../../local-node/open-repair.ts';
import { faultNamed, inRepairOrder } from '../input/choose-faults.ts';
import { managedNode, openNode, reportAbandoned } from '../input/open-node.ts';
import { hasRepair, isPosition, noSuchFinding, openFindings } from '../recovery/choose-findings.ts';
import { begunFindings, finishInterrupted } from '../recovery/finish-interrupted.ts';
import { recoverFault } from '../recovery/recover-fault.ts';
import {
  beginRun,
  checkFor,
  type RecoverOptions,
  type RecoveryRun,
} from '../recovery/recovery-run.ts';
import { exitCodeOf, type FaultResult, totalsOf, totalsText } from '../recovery/recovery-totals.ts';
import { showLeft, showManual } from '../screens/show-plan.ts';
import { showSettled, showUnfinished, showUnknowns } from '../screens/show-recovery.ts';
import { journalIn } from './journal.ts';

/** `kubediag recover [FAULT]`: without a name, fault by fault, each with a check of its own. */
export async function recover(
  [name]: readonly string[],
  options: RecoverOptions,
  terminal: Terminal,
): Promise<number> {
  const run = beginRun(options, terminal);
  const code = await recoverAll(name, run);
  for (const node of run.nodes) await reportAbandoned(node, terminal);
  return code;
}

async function recoverAll(name: string | undefined, run: RecoveryRun): Promise<number> {
  const { options, terminal } = run;
  const asked = await faultsAsked(name, run);
  if ('code' in asked) return asked.code;
  const results = new Map<AnyFault, FaultResult>();
  for (const fault of asked) {
    if (run.stop?.aborted) break;
    const result = await recoverFault(fault, run);
    results.set(fault, result);
    if (result.isOver) break;
  }
  const ended = [...results.values()];
  const isOver = ended.some((result) => result.isOver);
  const isRefused = isOver || (run.hasPlanned && !run.hasSettled);
  if (!options.dryRun && !run.hasSettled) {
    await (isRefused ? reportEarlier(run) : settleEarlier(run));
  }
  if (options.dryRun ? !isOver : !isRefused) ended.push(...(await finishInterrupted(asked, run)));
  const again = await checkAgain(results, ended, run);
  endCachedReader();
  const totals = totalsOf(ended, again?.left ?? 0);
  const before = again && !options.dryRun ? ended.map(settledCode) : ended;
  const codes = again ? [...before, { code: again.code }] : before;
  terminal.out(totalsText(totals, options.dryRun ?? false));
  if (options.dryRun) terminal.err('dry run: nothing was changed\n');
  const open = asked.filter((fault) => !results.has(fault)).map(({ id }) => id);
  if (!run.stop?.aborted || open.length === 0) return exitCodeOf(totals, codes);
  terminal.err(`stopped; not checked: ${open.join(', ')}\n`);
  return EXIT.notDone;
}

type Asked = readonly AnyFault[] | { readonly code: number };

async function faultsAsked(name: string | undefined, run: RecoveryRun): Promise<Asked> {
  const { finding } = run.options;
  // One without a repair too: the user gets the manual steps.
  if (name !== undefined) return [faultNamed(name)];
  if (finding === undefined) return inRepairOrder();
  if (isPosition(finding)) {
    throw new UsageError(`--finding ${finding} is a position among findings of one FAULT: name it`);
  }
  return faultWith(finding, run);
}

/** The fault whose finding has this id, now or in an interrupted plan: no two findings share one. */
async function faultWith(id: string, run: RecoveryRun): Promise<Asked> {
  const checked = await checkFor(faults, run);
  if ('advice' in checked) {
    run.terminal.err(checked.advice);
    return { code: EXIT.unknown };
  }
  const seen = checked.judged.flatMap(({ fault, verdict }) =>
    openFindings(verdict.findings).map((finding) => ({ fault, id: findingId(fault, finding) })),
  );
  const found = seen.find((each) => each.id === id);
  if (found) return [found.fault];
  const begun = (await begunFindings(run.options)).find(({ finding }) => finding === id);
  const begunFault = faults.find((fault) => fault.id === begun?.fault);
  if (begunFault) return [begunFault];
  const ids = seen.map((each) => each.id);
  run.terminal.err(noSuchFinding(id, ids));
  return { code: EXIT.notDone };
}

/** Nobody allowed a change: what an earlier run was killed at stays as it is. */
async function reportEarlier({ options, terminal }: RecoveryRun): Promise<void> {
  const node = openNode(options);
  const opened = await dryRunOn(node, managedNode(options));
  if (opened.isOpen) showUnfinished(opened.unfinished, terminal);
  node.close();
}

/** Nothing was found; but an interrupted action of an earlier run may have to be reported. */
async function settleEarlier({ options, terminal }: RecoveryRun): Promise<void> {
  const journal = await journalIn(options.stateFolder);
  if (!journal.ok || journal.value.unfinished.length === 0) return;
  const node = openNode(options);
  const opened = await openRepairOn(node, managedNode(options));
  if (opened.isOpen) {
    showSettled(opened.settled, terminal);
    opened.close();
  }
  node.close();
}

/** What was unknown before a repair is judged again by the check after it. */
function settledCode({ code }: FaultResult): Pick<FaultResult, 'code'> {
  return { code: code === EXIT.unknown ? EXIT.clear : code };
}

/**
 * A repair may leave a part for a person, or uncover another finding. Both count, or we would end as
 * if nothing were left. What was repaired and is still seen may only need a moment, and does not.
 */
async function checkAgain(
  results: ReadonlyMap<AnyFault, FaultResult>,
  ended: readonly FaultResult[],
  run: RecoveryRun,
): Promise<{ readonly left: number; readonly code: number } | undefined> {
  const { options, terminal } = run;
  const isChanged = ended.some(({ ends }) => [...ends.values()].includes('repaired'));
  if (run.stop?.aborted || !isChanged) return undefined;
  const judged = options.dryRun ? expectedOf(results) : await judgedNow(results, run);
  if (!judged) return { left: 0, code: EXIT.unknown };
  let count = 0;
  let code: number = EXIT.clear;
  for (const { fault, verdict } of judged) {
    const { ends, code: codeBefore } = results.get(fault) ?? {};
    const isLeft = (finding: Finding) => {
      const end = ends?.get(findingId(fault, finding));
      if (end === undefined) return options.finding === undefined;
      return end === 'repaired' && !hasRepair(fault, finding);
    };
    const left = openFindings(verdict.findings).filter(isLeft);
    const ours = left.filter((finding) => hasRepair(fault, finding));
    const manual = left.filter((finding) => !ours.includes(finding));
    const isFull = options.verbose ?? false;
    const repairToo = `to repair it too: kubediag recover ${fault.id}`;
    showLeft({ fault, findings: ours }, repairToo, terminal, isFull);
    showManual({ fault, findings: manual }, terminal, isFull);
    count += left.length;
    const { unknowns } = verdict;
    if (unknowns.length === 0 || options.finding !== undefined) continue;
    if (codeBefore !== EXIT.unknown) showUnknowns(fault, unknowns, terminal);
    code = EXIT.unknown;
  }
  return { left: count, code };
}

/** A dry run changes nothing that could be checked again. */
function expectedOf(results: ReadonlyMap<AnyFault, FaultResult>): readonly Judged[] {
  return [...results].flatMap(([fault, { expected }]) =>
    expected ? [{ fault, verdict: expected }] : [],
  );
}

async function judgedNow(
  results: ReadonlyMap<AnyFault, FaultResult>,
  run: RecoveryRun,
): Promise<readonly Judged[] | undefined> {
  const checked = await checkFor([...results.keys()], run);
  return 'advice' in checked ? undefined : checked.judged;
}
