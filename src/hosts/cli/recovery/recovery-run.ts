import { defined } from '../../../lib/std/defined.ts';
import { stopOnSignal } from '../../../lib/terminal/stop-on-signal.ts';
import type { GlobalOptions, Terminal } from '../../../lib/terminal/terminal.ts';
import { type CheckResult, runCheck } from '../../../node/checkup/run-check.ts';
import type { AnyFault } from '../../../node/model/fault.ts';
import type { LiveNode } from '../../../node/reader/live-node.ts';
import { type NodeOptions, stateFolderOf } from '../command-line/options.ts';
import { adviceWithoutKubelet } from '../commands/no-node.ts';
import { checkRunOf, openNode } from '../input/open-node.ts';

export interface RecoverOptions extends NodeOptions, GlobalOptions {
  readonly finding?: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly latent?: boolean;
  /** The words that plans ask for. */
  readonly confirm?: readonly string[];
  readonly wait?: boolean;
  readonly stateDir?: string;
}

/** One `kubediag recover`, over all faults that it takes on. */
export interface RecoveryRun {
  readonly options: Omit<RecoverOptions, 'confirm'> & {
    /** All words, with commas. */
    readonly confirm?: string;
    readonly stateFolder: string;
  };
  readonly terminal: Terminal;
  /** Set once a signal no longer ends us, but stops us before the next action. */
  stop?: AbortSignal;
  /** Whether actions that an earlier crash left open were settled. */
  hasSettled: boolean;
  /** Whether there was anything to repair, also where the person then said no. */
  hasPlanned: boolean;
  /** Every node that was opened: abandoned processes are listed at the end. */
  readonly nodes: LiveNode[];
}

export function beginRun(given: RecoverOptions, terminal: Terminal): RecoveryRun {
  const confirm = given.confirm?.join(',');
  const options = defined({ ...given, confirm, stateFolder: stateFolderOf(given) });
  return { options, terminal, hasSettled: false, hasPlanned: false, nodes: [] };
}

/** The node of a run. */
export function openFor(run: RecoveryRun): LiveNode {
  const node = openNode(run.options);
  run.nodes.push(node);
  return node;
}

/** Signals are listened to from the first call on. */
export function stopOf(run: RecoveryRun): AbortSignal {
  run.stop ??= stopOnSignal(run.terminal);
  return run.stop;
}

/** Checks the node for these faults; on a machine without a kubelet, says where to go instead. */
export async function checkFor(
  faults: readonly AnyFault[],
  run: RecoveryRun,
): Promise<CheckResult | { readonly advice: string }> {
  const { options, terminal, stop } = run;
  const asked = checkRunOf(faults, options);
  const node = openFor(run);
  const end = () => node.endCheck('you asked to stop');
  stop?.addEventListener('abort', end);
  const checked = await runCheck(node, asked, terminal);
  stop?.removeEventListener('abort', end);
  const advice = await adviceWithoutKubelet(checked.report, node, options.hostRoot);
  node.pause();
  return advice ? { advice } : checked;
}
