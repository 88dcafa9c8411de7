import { type Looked, takeLook } from '../host/take-look.ts';
import type { AnyFault } from '../model/fault.ts';
import { adviceWithoutKubelet } from './no-node.ts';
import { openNode } from './open-node.ts';
import {
  durationMs,
  type GlobalOptions,
  lookSettingsOf,
  type NodeOptions,
  stateFolderOf,
} from './options.ts';
import { stopOnSignal } from './stop-on-signal.ts';
import { tellAbandoned } from './tell-abandoned.ts';
import type { Terminal } from './terminal.ts';

export interface RecoverOptions extends NodeOptions, GlobalOptions {
  readonly finding?: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly latent?: boolean;
  readonly confirm?: string;
  readonly wait?: boolean;
  readonly stateDir?: string;
}

/** One `kubediag recover`, over all faults that it takes on. */
export interface RecoveryRun {
  readonly options: RecoverOptions & { readonly stateFolder: string };
  readonly terminal: Terminal;
  /** Set once a signal no longer ends us, but stops us before the next action. */
  stop?: AbortSignal;
  /** Whether actions that an earlier crash left open were settled. */
  hasSettled: boolean;
  /** Whether there was anything to repair, also where the person then said no. */
  hasPlanned: boolean;
}

export function beginRun(options: RecoverOptions, terminal: Terminal): RecoveryRun {
  const stateFolder = stateFolderOf(options);
  return { options: { ...options, stateFolder }, terminal, hasSettled: false, hasPlanned: false };
}

/** Signals are listened to from the first call on. */
export function stopOf(run: RecoveryRun): AbortSignal {
  run.stop ??= stopOnSignal(run.terminal);
  return run.stop;
}

/** Checks the node for these faults; on a machine without a kubelet, says where to go instead. */
export async function checkFor(
  faults: readonly AnyFault[],
  { options, terminal, stop }: RecoveryRun,
): Promise<Looked | { readonly advice: string }> {
  const looking = {
    faults,
    settings: lookSettingsOf(options),
    timeoutMs: durationMs('--timeout', options.timeout),
  };
  const node = openNode(options);
  const end = () => node.endLook('you asked to stop');
  stop?.addEventListener('abort', end);
  const looked = await takeLook(node, looking, terminal);
  stop?.removeEventListener('abort', end);
  const { presence, notes = [] } = looked.report.node.kubelet;
  const advice =
    presence === 'absent' && (await adviceWithoutKubelet(node, options.hostRoot, notes));
  node.pause();
  await tellAbandoned(node, terminal);
  return advice ? { advice } : looked;
}
