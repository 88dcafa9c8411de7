import type { Explanation } from '../../../lib/std/explanation.ts';
import { abortOnSignal } from '../../../lib/terminal/stop-on-signal.ts';
import { EXIT, type Terminal } from '../../../lib/terminal/terminal.ts';
import { explanationText } from '../../../lib/terminal/wrap.ts';
import { NAMESPACE } from '../../../pipeline/api/cluster-names.ts';
import { VERSION } from '../../local-node/product-version.ts';
import { podAddress } from './serve.ts';

export interface AgentCommandOptions {
  readonly nodeName: string;
  readonly socket: string;
  readonly listen: string;
  readonly kubeconfig?: string;
}

/** The agent of a cluster. `main` passes it in, because the command line must not import it. */
export type RunAgent = (
  options: {
    readonly nodeName: string;
    readonly socketPath: string;
    readonly host: string;
    readonly port: number;
    readonly kubeconfig: string | undefined;
    readonly pod: { readonly namespace: string; readonly name: string | undefined };
    readonly version: string;
  },
  stop: AbortSignal,
  listener: {
    readonly onStart: (start: { readonly url: string }) => void;
    readonly onMessage: (message: string) => void;
  },
) => Promise<Explanation | undefined>;

export async function agentHere(
  { nodeName, socket, listen, kubeconfig }: AgentCommandOptions,
  terminal: Terminal,
  run: RunAgent,
): Promise<number> {
  const { host, port } = podAddress(listen);
  const log = (text: string) => terminal.err(`${new Date().toISOString()} ${text}\n`);
  const stop = abortOnSignal({ onSignal: (signal) => log(`${signal}: stopping`) });
  const { POD_NAME: name, POD_NAMESPACE: namespace = NAMESPACE } = process.env;
  const options = { nodeName, socketPath: socket, host, port, kubeconfig, version: VERSION };
  const failure = await run({ ...options, pod: { namespace, name } }, stop, {
    onStart: ({ url }) => log(`agent of node ${nodeName} on ${url}`),
    onMessage: log,
  });
  if (!failure) return EXIT.clear;
  terminal.err(
    explanationText({ ...failure, what: `refused: ${failure.what}` }, terminal.errWidth),
  );
  return EXIT.notDone;
}
