import { isLoopback } from '../../../lib/std/is-loopback.ts';
import { stopOnSignal } from '../../../lib/terminal/stop-on-signal.ts';
import { EXIT, type Terminal, UsageError } from '../../../lib/terminal/terminal.ts';
import { explanationText, wrapText } from '../../../lib/terminal/wrap.ts';
import type { Failure } from '../../../node/model/action.ts';
import type { ManagedNode } from '../../local-node/open-repair.ts';
import type { StepListener } from '../../local-node/step-host.ts';
import { durationMs, type NodeOptions } from '../command-line/options.ts';
import { managedNode, reportAbandoned } from '../input/open-node.ts';
import { showSettled } from '../screens/show-recovery.ts';

export interface ServeOptions extends NodeOptions {
  readonly listen: string;
  readonly allowRemote?: boolean;
  readonly stateDir?: string;
  readonly nodeName?: string;
  readonly repeatInterval: string;
}

/** The agent. `main` passes it in, because the command line must not import it. */
export type Serve = (
  options: {
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

export async function serveHere(
  options: ServeOptions,
  terminal: Terminal,
  serve: Serve,
): Promise<number> {
  const address = listenAddress(options.listen, options.allowRemote ?? false);
  if (address.warning !== undefined) terminal.err(`${address.warning}\n`);
  const node = managedNode(options);
  const stop = stopOnSignal(terminal, 'an action that has begun is finished first');
  // Diagnoses of Triggers are retained for ten days, and repeats are recognized by them.
  const repeatMs = durationMs('--repeat-interval', options.repeatInterval, '240h');
  const failure = await serve({ ...address, node, nodeName: options.nodeName, repeatMs }, stop, {
    // An agent has no screen for the progress of single checks.
    progress: () => {},
    detail: terminal.detail,
    onSettled: (settled) => showSettled(settled, terminal),
    onLetGo: (each) => reportAbandoned(each, terminal),
    onStart: (start) => reportStart(start, terminal),
    onError: (text) => {
      // In a log file the line needs its time.
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
    err(`no kubelet found: using the host name as node name; to change it: --node-name NODE\n`);
  }
  // Shown once, and never in a log that others may read.
  if (newToken !== undefined && isOutTerminal) out(`token      ${newToken}\n`);
  out(`token file ${tokenFile}, readable by this user only\n`);
  out('           intake-token beside it is for alerts, events and /metrics only\n');
}

interface ListenAddress {
  readonly host: string;
  readonly port: number;
  readonly warning?: string;
}

// 127.0.0.1:8090, [::1]:8090, localhost:0
const ADDRESS = /^(\[[\da-f:.]+\]|[\w.-]+):(\d{1,5})$/i;

/** The address of `serve`. One that other machines can reach needs --allow-remote. */
export function listenAddress(text: string, mayBeRemote: boolean): ListenAddress {
  const [, given = '', digits = ''] = ADDRESS.exec(text) ?? [];
  const port = Number(digits);
  if (given === '' || port > 65_535) {
    throw new UsageError(`--listen: not ADDRESS:PORT, such as 127.0.0.1:8090: "${text}"`);
  }
  const host = given.replace(/^\[|\]$/g, '');
  if (isLoopback(host)) return { host, port };
  if (!mayBeRemote) {
    throw new UsageError(
      `--listen ${text}: other machines can reach this address, and traffic is not encrypted; ` +
        'use 127.0.0.1, or add --allow-remote',
    );
  }
  const warning =
    `warning: other machines can reach ${text}, without TLS: anybody who can read the traffic gets ` +
    'the token, and with it the right to repair this node; put a TLS proxy in front of it';
  return { host, port, warning };
}

/** The address of a process in a pod: ":8090" is every address, of IPv4 and of IPv6. */
export function podAddress(text: string): { readonly host: string; readonly port: number } {
  const isEvery = text.startsWith(':');
  const { host, port } = listenAddress(isEvery ? `localhost${text}` : text, true);
  return { host: isEvery ? '' : host, port };
}
