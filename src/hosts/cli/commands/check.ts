import { EXIT, type Terminal } from '../../../lib/terminal/terminal.ts';
import type { Report } from '../../../node/checkup/report.ts';
import { runCheck } from '../../../node/checkup/run-check.ts';
import { type NodeOptions, podName } from '../command-line/options.ts';
import type { ReportOptions } from '../command-line/shared-options.ts';
import { chooseFaults } from '../input/choose-faults.ts';
import { checkRunOf, openNode, reportAbandoned } from '../input/open-node.ts';
import { withoutDenials } from '../screens/headline.ts';
import { formatOf, showReport } from '../screens/show-report.ts';
import { adviceWithoutKubelet } from './no-node.ts';
import { type WatchOptions, watch } from './watch.ts';

export interface CheckOptions extends NodeOptions, ReportOptions, WatchOptions {
  readonly watch?: boolean;
}

export async function check(
  names: readonly string[],
  options: CheckOptions,
  terminal: Terminal,
): Promise<number> {
  const only = options.pod === undefined ? undefined : podName(options.pod);
  const looking = { ...checkRunOf(chooseFaults(names), options), only };
  const node = openNode(options);
  if (options.watch) return watch(node, looking, options, terminal);
  // The report comes first; what was read for it, and abandoned readers, follow below.
  const asked: (() => string)[] = [];
  const listener = { ...terminal, detail: (text: () => string) => void asked.push(text) };
  const { report } = await runCheck(node, looking, listener);
  const advice = await adviceWithoutKubelet(report, node, options.hostRoot);
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
