import { stopOnSignal } from '../../../lib/terminal/stop-on-signal.ts';
import { EXIT, type Terminal } from '../../../lib/terminal/terminal.ts';
import { explanationText, wrapText } from '../../../lib/terminal/wrap.ts';
import type { Failure } from '../../../node/model/action.ts';
import type { ManagedNode } from '../../local-node/open-repair.ts';
import type { StepListener } from '../../local-node/step-host.ts';
import { absolute, type NodeOptions } from '../command-line/options.ts';
import { managedNode, reportAbandoned } from '../input/open-node.ts';
import { showSettled } from '../screens/show-recovery.ts';

export interface ExecutorCommandOptions extends NodeOptions {
  readonly socket: string;
  readonly policy: string;
  readonly stateDir?: string;
  readonly nodeName?: string;
}

/** The executor. `main` passes it in, because the command line must not import it. */
export type RunExecutor = (
  options: {
    readonly socketPath: string;
    readonly policyFile: string;
    readonly node: ManagedNode;
    readonly nodeName: string | undefined;
  },
  stop: AbortSignal,
  listener: StepListener & { readonly onEvent: (line: string) => void },
) => Promise<Failure | undefined>;

export async function executeHere(
  options: ExecutorCommandOptions,
  terminal: Terminal,
  run: RunExecutor,
): Promise<number> {
  const stop = stopOnSignal(terminal, 'an action that has begun is finished first');
  const given = {
    socketPath: absolute('--socket', options.socket),
    policyFile: absolute('--policy', options.policy),
    node: managedNode(options),
    nodeName: options.nodeName,
  };
  const failure = await run(given, stop, {
    progress: () => {},
    detail: terminal.detail,
    onSettled: (settled) => showSettled(settled, terminal),
    onLetGo: (each) => reportAbandoned(each, terminal),
    onEvent: (text) => {
      const line = `${new Date().toISOString()} ${text}`;
      terminal.err(`${wrapText(line, terminal.errWidth).join('\n')}\n`);
    },
  });
  if (!failure) return EXIT.clear;
  const what = `refused: ${failure.what}`;
  terminal.err(explanationText({ ...failure, what }, terminal.errWidth));
  return EXIT.notDone;
}
