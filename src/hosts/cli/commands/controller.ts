import { hostname } from 'node:os';
import type { Explanation } from '../../../lib/std/explanation.ts';
import { abortOnSignal } from '../../../lib/terminal/stop-on-signal.ts';
import { EXIT, type Terminal } from '../../../lib/terminal/terminal.ts';
import { explanationText } from '../../../lib/terminal/wrap.ts';
import { NAMESPACE } from '../../../pipeline/api/cluster-names.ts';
import {
  type BuiltInManifest,
  builtInManifests,
} from '../../../pipeline/operations/built-in-manifests.ts';
import { VERSION } from '../../local-node/product-version.ts';
import { podAddress } from './serve.ts';

export interface ControllerCommandOptions {
  readonly listen: string;
  readonly kubeconfig?: string;
}

/** The controller. `main` passes it in, because the command line must not import it. */
export type RunController = (
  options: {
    readonly host: string;
    readonly port: number;
    readonly kubeconfig: string | undefined;
    readonly namespace: string;
    readonly identity: string;
    readonly version: string;
    readonly builtIns: readonly BuiltInManifest[];
  },
  stop: AbortSignal,
  listener: {
    readonly onStart: (start: { readonly url: string }) => void;
    readonly onMessage: (message: string) => void;
  },
) => Promise<Explanation | undefined>;

export async function controlHere(
  { listen, kubeconfig }: ControllerCommandOptions,
  terminal: Terminal,
  run: RunController,
): Promise<number> {
  const log = (text: string) => terminal.err(`${new Date().toISOString()} ${text}\n`);
  const stop = abortOnSignal({ onSignal: (signal) => log(`${signal}: stopping`) });
  const { POD_NAME: pod = hostname(), POD_NAMESPACE: namespace = NAMESPACE } = process.env;
  // Two processes of one pod or machine are two candidates too.
  const identity = `${pod}_${process.pid}_${Math.random().toString(36).slice(2, 10)}`;
  const { host, port } = podAddress(listen);
  const options = {
    ...{ host, port, kubeconfig, namespace, identity, version: VERSION },
    builtIns: builtInManifests,
  };
  const failure = await run(options, stop, {
    onStart: ({ url }) => log(`controller ${identity} on ${url}`),
    onMessage: log,
  });
  if (!failure) return EXIT.clear;
  const what = `refused: ${failure.what}`;
  terminal.err(explanationText({ ...failure, what }, terminal.errWidth));
  return EXIT.notDone;
}
