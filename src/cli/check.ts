import type { Report } from '../checkup/report.ts';
import { chooseFaults } from './choose-faults.ts';
import { EXIT } from './exit-codes.ts';
import { adviceWithoutKubelet, adviceWithoutRights } from './no-node.ts';
import { openNode } from './open-node.ts';
import { durationMs, lookSettingsOf, type NodeOptions, podName } from './options.ts';
import { type ReportFormat, showReport } from './show-report.ts';
import { takeLook } from './take-look.ts';
import type { Terminal } from './terminal.ts';

export interface CheckOptions extends NodeOptions {
  readonly output?: ReportFormat;
  readonly pod?: string;
}

/** `kubediag check [FAULT...]` */
export async function check(
  names: readonly string[],
  options: CheckOptions,
  terminal: Terminal,
): Promise<number> {
  const looking = {
    faults: chooseFaults(names),
    settings: lookSettingsOf(options),
    only: options.pod === undefined ? undefined : podName(options.pod),
    timeoutMs: durationMs('--timeout', options.timeout),
  };
  const node = openNode(options);
  const { report } = await takeLook(node, looking, terminal);
  const advice = await adviceFor(report, options, node);
  node.close();
  await tellAbandoned(node, terminal);
  if (advice && !options.output) {
    terminal.out(advice);
    return EXIT.unknown;
  }
  const code = await showReport(report, options.output, terminal);
  if (code === EXIT.unknown) terminal.hint(adviceWithoutRights());
  return code;
}

async function adviceFor(
  report: Report,
  options: NodeOptions,
  node: ReturnType<typeof openNode>,
): Promise<string | undefined> {
  const { presence, notes = [] } = report.node.kubelet;
  if (presence !== 'absent') return undefined;
  return adviceWithoutKubelet(node, options.hostRoot, notes);
}

/** Nothing we started outlives its limit unnoticed. Called when the node was let go. */
export async function tellAbandoned(
  node: Pick<ReturnType<typeof openNode>, 'leftBehind'>,
  terminal: Terminal,
): Promise<void> {
  for (const { pid, source } of await node.leftBehind()) {
    terminal.err(
      `left behind: reader process ${pid} waits for ${source}, which does not answer; ` +
        'it ends by itself when that does\n',
    );
  }
}
