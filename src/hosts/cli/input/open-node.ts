import { resolve } from 'node:path';
import type { LiveNode } from '../../../node/reader/live-node.ts';
import { type NodeAccess, openLiveNode } from '../../local-node/open-live-node.ts';
import type { ManagedNode } from '../../local-node/open-repair.ts';
import { absolute, type NodeOptions, snapshotOptionsOf } from '../command-line/options.ts';

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
export function managedNode(options: NodeOptions & { readonly stateFolder: string }): ManagedNode {
  const { stateFolder } = options;
  return { access: nodeAccessOf(options), settings: snapshotOptionsOf(options), stateFolder };
}
