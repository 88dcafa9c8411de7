import { findingId } from '../checkup/check-up.ts';
import { lookAt } from '../checkup/look.ts';
import { handsOn, type NodeInHand } from '../host/hands-on.ts';
import { bundleNameOf, saveBundle } from '../host/save-bundle.ts';
import { type Looked, takeLook } from '../host/take-look.ts';
import type { AnyFault } from '../model/fault.ts';
import type { Finding } from '../model/finding.ts';
import type { OpenHands } from '../repair/open-hands.ts';
import { awaitHealing } from './await-healing.ts';
import { faultNamed, repairedBefore } from './choose-faults.ts';
import { chooseFindings } from './choose-findings.ts';
import { EXIT } from './exit-codes.ts';
import { journalIn } from './journal.ts';
import { adviceWithoutKubelet } from './no-node.ts';
import { nodeAccessOf, openNode } from './open-node.ts';
import { durationMs, lookSettingsOf, type NodeOptions, stateFolderOf } from './options.ts';
import {
  showLeft,
  showOutcome,
  showPlan,
  showProgress,
  showSettled,
  showSteps,
} from './show-recovery.ts';
import { tellAbandoned } from './tell-abandoned.ts';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

export interface RecoverOptions extends NodeOptions {
  readonly finding?: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly confirm?: string;
  readonly wait?: boolean;
  readonly stateDir?: string;
}

interface Planned {
  readonly fault: AnyFault;
  readonly findings: readonly Finding[];
  /** Whether somebody is there who does what is to follow. */
  readonly isKubeletUp: boolean;
}

/** `kubediag recover FAULT`: shows what it would do, asks, does it, and looks whether it worked. */
export async function recover(
  name: string,
  options: RecoverOptions,
  terminal: Terminal,
): Promise<number> {
  const fault = faultNamed(name);
  if (!fault.recover) throw new UsageError(`KubeDiag finds ${name} but has no recovery for it`);
  const stateFolder = stateFolderOf(options);
  const looking = {
    // What must be repaired before is looked for too, so that the plan can say so.
    faults: [fault, ...repairedBefore(fault)],
    settings: lookSettingsOf(options),
    timeoutMs: durationMs('--timeout', options.timeout),
  };
  const node = openNode(options);
  const looked = await takeLook(node, looking, terminal);
  const { presence, notes = [] } = looked.report.node.kubelet;
  const advice =
    presence === 'absent' && (await adviceWithoutKubelet(node, options.hostRoot, notes));
  node.close();
  await tellAbandoned(node, terminal);
  if (advice) {
    terminal.err(advice);
    return EXIT.unknown;
  }

  const chosen = chooseFindings(fault, looked, options.finding);
  if ('nothing' in chosen) {
    if (!options.dryRun) await settleEarlier({ ...options, stateFolder }, terminal);
    terminal.err(chosen.nothing);
    return chosen.code;
  }
  const { findings, left } = chosen;
  const planned = { fault, findings, isKubeletUp: presence === 'running' };
  showPlan(planned, looked, terminal);
  showLeft(fault, left ?? [], terminal);
  if (options.dryRun) {
    terminal.err('dry run: nothing was changed\n');
    return EXIT.clear;
  }
  return act(planned, looked, { ...options, stateFolder }, terminal);
}

/** Nothing is to be done now; but what an earlier run was killed at may wait to be told. */
async function settleEarlier(
  options: RecoverOptions & { readonly stateFolder: string },
  terminal: Terminal,
): Promise<void> {
  const journal = await journalIn(options.stateFolder);
  if (!journal.ok || journal.value.unfinished.length === 0) return;
  const node = openNode(options);
  const opened = await handsOn(node, nodeInHand(options));
  if (opened.isOpen) {
    showSettled(opened.settled, terminal);
    opened.close();
  }
  node.close();
}

/** The node that the options name, with our folder on it. */
export function nodeInHand(options: NodeOptions & { readonly stateFolder: string }): NodeInHand {
  const { stateFolder } = options;
  return { access: nodeAccessOf(options), settings: lookSettingsOf(options), stateFolder };
}

async function act(
  planned: Planned,
  looked: Looked,
  options: RecoverOptions & { readonly stateFolder: string },
  terminal: Terminal,
): Promise<number> {
  if (!options.yes && !terminal.isInteractive) return refuseToGuess(terminal);
  const stop = stopOnSignal(terminal);
  const saved = await saveBundle(looked.bundle(), options.stateFolder, bundleName(planned, looked));
  if ('trouble' in saved) {
    terminal.err(`refused: the evidence cannot be saved\n  why   ${saved.trouble}\n`);
    terminal.err('  do    make room, or choose another --state-dir; nothing was changed\n');
    return EXIT.notDone;
  }
  terminal.out(`evidence   saved to ${saved.path}\n`);
  if (!options.yes && !(await agreed(terminal, stop))) return EXIT.notDone;
  const confirmed = await confirmedWords(planned, options.confirm, stop, terminal);

  const node = openNode(options);
  const settings = lookSettingsOf(options);
  const opened = await handsOn(node, nodeInHand(options));
  if (!opened.isOpen) {
    node.close();
    showOutcome({ state: 'refused', ...opened }, terminal);
    return EXIT.notDone;
  }
  showSettled(opened.settled, terminal);
  try {
    const isDone = await performAll(planned, opened, { confirmed, stop }, terminal);
    // Whoever only watches keeps nobody else from acting.
    opened.close();
    if (!isDone) return EXIT.notDone;
    if (!options.wait) return EXIT.clear;
    if (!planned.isKubeletUp) {
      terminal.err(`not waiting: ${ASLEEP}\n`);
      return EXIT.notDone;
    }
    return (await awaitHealing(planned, () => lookAt(node, settings), stop, terminal))
      ? EXIT.clear
      : EXIT.notDone;
  } finally {
    opened.close();
    node.close();
    await tellAbandoned(node, terminal);
  }
}

function refuseToGuess(terminal: Terminal): number {
  terminal.err(
    'refused: there is no terminal to ask on, so nothing was changed\n' +
      '  do    run it again with --yes to act, or with --dry-run to only see the plan\n',
  );
  return EXIT.notDone;
}

async function agreed(terminal: Terminal, stop: AbortSignal): Promise<boolean> {
  if (await terminal.confirm('Go on? [y/N] ', stop)) return true;
  terminal.err('nothing was changed\n');
  return false;
}

/** What a general yes does not cover: asked for word by word, or taken from --confirm. */
async function confirmedWords(
  { fault, findings }: Planned,
  told: string | undefined,
  stop: AbortSignal,
  terminal: Terminal,
): Promise<ReadonlyMap<Finding, string>> {
  const words = new Map<Finding, string>();
  for (const finding of findings) {
    const { confirmation } = fault.recover?.(finding) ?? {};
    if (!confirmation) {
      // The hands may still ask for a word, for what they see only when they look again.
      if (told !== undefined) words.set(finding, told);
      continue;
    }
    const { why, word } = confirmation;
    const question = `${why}\nType ${word} to do it all the same: `;
    const typed = told ?? (terminal.isInteractive ? await terminal.ask(question, stop) : '');
    // Without the word the action is still shown to be refused, by those who look again.
    if (typed === word) words.set(finding, word);
  }
  return words;
}

const ASLEEP = 'the kubelet does not run; it does the rest once it is started again';

/** One action at a time. The actions of a finding build on each other; findings do not. */
async function performAll(
  planned: Planned,
  hands: OpenHands & { readonly isOpen: true },
  { confirmed, stop }: { confirmed: ReadonlyMap<Finding, string>; stop: AbortSignal },
  terminal: Terminal,
): Promise<boolean> {
  const { fault, findings, isKubeletUp } = planned;
  let isDone = true;
  for (const finding of findings) {
    const recovery = fault.recover?.(finding);
    const word = confirmed.get(finding);
    for (const each of recovery?.actions ?? []) {
      const action = word === undefined ? each : { ...each, confirmed: word };
      const wish = {
        stop,
        onStep: showSteps(action, terminal),
        onProgress: showProgress(terminal),
      };
      const intent = { action, fault: fault.id, finding: findingId(fault, finding) };
      const { outcome, entry } = await hands.perform(intent, wish);
      const next = isKubeletUp ? recovery?.afterwards : ASLEEP;
      showOutcome(outcome, terminal, { action, entry, next });
      isDone = isDone && outcome.state === 'done';
      if (outcome.state !== 'done') break;
    }
  }
  return isDone;
}

/** Ctrl-C stops before the next act, or batch of one; what has begun is carried to its end and told. */
export function stopOnSignal(
  terminal: Terminal,
  words = 'what has begun is finished first',
): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      terminal.err(`${signal}: stopping; ${words}\n`);
      stop.abort();
    });
  }
  return stop.signal;
}

function bundleName({ fault, findings }: Planned, { report }: Looked): string {
  const [finding] = findings;
  return bundleNameOf(report, finding ? findingId(fault, finding) : 'none');
}
