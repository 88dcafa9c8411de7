import { resolve } from 'node:path';
import type { NodeInHand } from '../host/hands-on.ts';
import { type NodeAccess, openLiveNode } from '../host/open-live-node.ts';
import type { LiveNode } from '../node/live-node.ts';
import { absolute, lookSettingsOf, type NodeOptions } from './options.ts';

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

/** The reader, which opens it, works in another folder. */
function fromHere(path: string | undefined): string | undefined {
  return path === undefined ? undefined : resolve(path);
}

/** The node that the options name, with our folder on it. */
export function nodeInHand(options: NodeOptions & { readonly stateFolder: string }): NodeInHand {
  const { stateFolder } = options;
  return { access: nodeAccessOf(options), settings: lookSettingsOf(options), stateFolder };
}
