import type { NodeInHand } from '../host/hands-on.ts';
import { type NodeAccess, openLiveNode } from '../host/open-live-node.ts';
import type { LiveNode } from '../node/live-node.ts';
import { absolute, lookSettingsOf, type NodeOptions } from './options.ts';

/** The node we are on, or the one whose root is at `--host-root`. */
export function openNode(options: NodeOptions): LiveNode {
  return openLiveNode(nodeAccessOf(options));
}

function nodeAccessOf(options: NodeOptions): NodeAccess {
  return {
    hostRoot: absolute('--host-root', options.hostRoot),
    kubeletTokenFile: options.kubeletTokenFile,
    kubeletCertificateFile: options.kubeletCert,
    kubeletKeyFile: options.kubeletKey,
  };
}

/** The node that the options name, with our folder on it. */
export function nodeInHand(options: NodeOptions & { readonly stateFolder: string }): NodeInHand {
  const { stateFolder } = options;
  return { access: nodeAccessOf(options), settings: lookSettingsOf(options), stateFolder };
}
