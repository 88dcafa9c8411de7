import { EXIT } from '../../../lib/terminal/exit-codes.ts';
import { abortOnSignal } from '../../../lib/terminal/stop-on-signal.ts';
import type { GlobalOptions, Terminal } from '../../../lib/terminal/terminal.ts';
import { UsageError } from '../../../lib/terminal/usage-error.ts';
import type { Report } from '../../../node/checkup/report.ts';
import { type CheckRun, runCheck } from '../../local-node/run-check.ts';
import {
  durationMs,
  type NodeOptions,
  podName,
  snapshotOptionsOf,
} from '../command-line/options.ts';
import type { ReportOptions } from '../command-line/shared-options.ts';
import { chooseFaults } from '../input/choose-faults.ts';
import { openNode } from '../input/open-node.ts';
import { withoutDenials } from '../screens/not-root.ts';
import { reportAbandoned } from '../screens/report-abandoned.ts';
import { formatOf, showReport } from '../screens/show-report.ts';
import { adviceWithoutKubelet, hasNothingToCheck } from './no-node.ts';
import { watch } from './watch.ts';

export interface CheckOptions extends NodeOptions, ReportOptions, GlobalOptions {
  readonly watch?: boolean;
  readonly every: string;
}

export async function check(
  names: readonly string[],
  options: CheckOptions,
  terminal: Terminal,
): Promise<number> {
  const looking = {
    faults: chooseFaults(names),
    settings: snapshotOptionsOf(options),
    only: options.pod === undefined ? undefined : podName(options.pod),
    timeoutMs: durationMs('--timeout', options.timeout),
  };
  const node = openNode(options);
  if (options.watch) return watchNode(node, looking, options, terminal);
  // The report comes first; what was read for it, and abandoned readers, follow below.
  const asked: (() => string)[] = [];
  const listener = { ...terminal, detail: (text: () => string) => void asked.push(text) };
  const { report } = await runCheck(node, looking, listener);
  const advice = await adviceFor(report, options, node);
  node.close();
  const code = await answer(report, advice, options, terminal);
  for (const text of asked) terminal.detail(text);
  await reportAbandoned(node, terminal);
  return code;
}

async function answer(
  report: Report,
  advice: string | undefined,
  options: CheckOptions,
  terminal: Terminal,
): Promise<number> {
  if (advice && !options.output) {
    terminal.out(advice);
    return EXIT.unknown;
  }
  const shown = options.output ? report : withoutDenials(report);
  return showReport(shown, formatOf(options), terminal);
}

/** `kubediag check --watch`, until Ctrl-C; the exit code is that of the last check. */
async function watchNode(
  node: ReturnType<typeof openNode>,
  looking: CheckRun,
  { output, every, verbose = false }: CheckOptions,
  terminal: Terminal,
): Promise<number> {
  if (output !== undefined && output !== 'json') {
    throw new UsageError(
      `-o ${output}: not possible with --watch, which prints lines, or JSON with -o json`,
    );
  }
  const everyMs = durationMs('--every', every);
  const wanted = { everyMs, isJson: output === 'json', isFull: verbose };
  return watch(node, { looking, ...wanted, stop: abortOnSignal() }, terminal);
}

async function adviceFor(
  report: Report,
  options: NodeOptions,
  node: ReturnType<typeof openNode>,
): Promise<string | undefined> {
  return hasNothingToCheck(report)
    ? adviceWithoutKubelet(node, options.hostRoot, report.node.kubelet.notes ?? [])
    : undefined;
}
