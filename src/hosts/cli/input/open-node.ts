import { resolve } from 'node:path';
import type { Terminal } from '../../../lib/terminal/terminal.ts';
import { wrapText } from '../../../lib/terminal/wrap.ts';
import type { CheckRun } from '../../../node/checkup/run-check.ts';
import type { AnyFault } from '../../../node/model/fault.ts';
import type { LiveNode } from '../../../node/reader/live-node.ts';
import { type NodeAccess, openLiveNode } from '../../local-node/open-live-node.ts';
import type { ManagedNode } from '../../local-node/open-repair.ts';
import {
  absolute,
  durationMs,
  type NodeOptions,
  snapshotOptionsOf,
  stateFolderOf,
} from '../command-line/options.ts';

/** The node we are on, or the one whose root is at `--host-root`. */
export function openNode(options: NodeOptions): LiveNode {
  return openLiveNode(nodeAccessOf(options));
}

export function nodeAccessOf(
  options: Pick<NodeOptions, 'hostRoot' | 'kubeletTokenFile' | 'kubeletCert' | 'kubeletKey'>,
): NodeAccess {
  return {
    hostRoot: absolute('--host-root', options.hostRoot),
    kubeletTokenFile: fromHere(options.kubeletTokenFile),
    kubeletCertificateFile: fromHere(options.kubeletCert),
    kubeletKeyFile: fromHere(options.kubeletKey),
  };
}

/** The reader process, which opens it, has another working directory. */
function fromHere(path: string | undefined): string | undefined {
  return path === undefined ? undefined : resolve(path);
}

/** The node that the options name, with our state directory on it. */
export function managedNode(options: NodeOptions & { readonly stateDir?: string }): ManagedNode {
  const settings = snapshotOptionsOf(options);
  return { access: nodeAccessOf(options), settings, stateFolder: stateFolderOf(options) };
}

/** A check for these faults, as the options want it. */
export function checkRunOf(faults: readonly AnyFault[], options: NodeOptions): CheckRun {
  const timeoutMs = durationMs('--timeout', options.timeout);
  return { faults, settings: snapshotOptionsOf(options), timeoutMs };
}

/** Reports readers that still wait on a path. Called after the node was closed. */
export async function reportAbandoned(
  node: Pick<LiveNode, 'leftBehind'>,
  terminal: Terminal,
): Promise<void> {
  for (const { pid, source } of await node.leftBehind()) {
    const what =
      `abandoned: reader process ${pid} still waits for an answer, and exits when it gets one: ` +
      source;
    terminal.err(`${wrapText(what, terminal.errWidth - 2).join('\n  ')}\n`);
  }
}
