import { EXIT } from '../../../lib/terminal/exit-codes.ts';
import { explanationText } from '../../../lib/terminal/explanation-text.ts';
import { stopOnSignal } from '../../../lib/terminal/stop-on-signal.ts';
import type { Terminal } from '../../../lib/terminal/terminal.ts';
import { wrapText } from '../../../lib/terminal/wrap.ts';
import type { Failure } from '../../../node/model/action.ts';
import type { ManagedNode } from '../../local-node/open-repair.ts';
import type { StepListener } from '../../local-node/step-host.ts';
import { listenAddress } from '../command-line/listen-address.ts';
import { durationMs, type NodeOptions, stateFolderOf } from '../command-line/options.ts';
import { managedNode } from '../input/open-node.ts';
import { reportAbandoned } from '../screens/report-abandoned.ts';
import { showSettled } from '../screens/show-recovery.ts';

export interface ServeOptions extends NodeOptions {
  readonly listen: string;
  readonly allowRemote?: boolean;
  readonly stateDir?: string;
  readonly nodeName?: string;
  readonly repeatInterval: string;
}

/** The agent, as `main` hands it to the command line, which must not reach it by itself. */
export type Serve = (
  wish: {
    readonly host: string;
    readonly port: number;
    readonly node: ManagedNode;
    readonly nodeName: string | undefined;
    readonly repeatMs: number;
  },
  stop: AbortSignal,
  listener: StepListener & {
    readonly onStart: (start: Started) => void;
    readonly onError: (text: string) => void;
  },
) => Promise<Failure | undefined>;

interface Started {
  readonly url: string;
  readonly nodeName: string;
  readonly isGuessed: boolean;
  readonly tokenFile: string;
  readonly newToken?: string;
}

/** `kubediag serve`: stands on this node until it is ended. */
export async function serveHere(
  options: ServeOptions,
  terminal: Terminal,
  serve: Serve,
): Promise<number> {
  const address = listenAddress(options.listen, options.allowRemote ?? false);
  if (address.warning !== undefined) terminal.err(`${address.warning}\n`);
  const node = managedNode({ ...options, stateFolder: stateFolderOf(options) });
  const stop = stopOnSignal(terminal, 'a change of the node that has begun is finished first');
  // What a Trigger made is kept for ten days, and a repetition is known by it.
  const repeatMs = durationMs('--repeat-interval', options.repeatInterval, '240h');
  const failure = await serve({ ...address, node, nodeName: options.nodeName, repeatMs }, stop, {
    // Nobody watches the single looks of what stands for months.
    progress: () => {},
    detail: terminal.detail,
    onSettled: (settled) => showSettled(settled, terminal),
    onLetGo: (each) => reportAbandoned(each, terminal),
    onStart: (start) => reportStart(start, terminal),
    onError: (text) => {
      // Whoever reads it later, in a file, has no other clock.
      const line = `${new Date().toISOString()} ${text}`;
      terminal.err(`${wrapText(line, terminal.errWidth).join('\n')}\n`);
    },
  });
  if (!failure) return EXIT.clear;
  const what = `refused: ${failure.what}`;
  terminal.err(explanationText({ ...failure, what }, terminal.errWidth));
  return EXIT.notDone;
}

function reportStart(start: Started, { out, err, isOutTerminal }: Terminal): void {
  const { url, nodeName, isGuessed, tokenFile, newToken } = start;
  out(`serving node ${nodeName} on ${url}\n`);
  if (isGuessed) {
    err('no kubelet says how it calls this node: that is the name of the host; or --node-name\n');
  }
  // Shown once, and never to a log, which others may read: whoever needs it reads the file.
  if (newToken !== undefined && isOutTerminal) out(`token      ${newToken}\n`);
  out(`token is   kept in ${tokenFile}, for this account alone\n`);
  out('           intake-token beside it opens alerts, events and /metrics alone\n');
}
