import { type NodeAccess, openLiveNode } from '../host/open-live-node.ts';
import type { LiveNode } from '../node/live-node.ts';
import { absolute, type NodeOptions } from './options.ts';

/** The node we are on, or the one whose root is at `--host-root`. */
export function openNode(options: NodeOptions): LiveNode {
  return openLiveNode(nodeAccessOf(options));
}

export function nodeAccessOf(options: NodeOptions): NodeAccess {
  return {
    hostRoot: absolute('--host-root', options.hostRoot),
    kubeletTokenFile: options.kubeletTokenFile,
    kubeletCertificateFile: options.kubeletCert,
    kubeletKeyFile: options.kubeletKey,
  };
}
