import { LiveNode } from '../../node/reader/live-node.ts';
import { ownCommand } from './own-command.ts';

/** How the node is reached: where its root is seen, and with which credentials its kubelet is asked. */
export interface NodeAccess {
  readonly hostRoot: string;
  readonly kubeletTokenFile?: string | undefined;
  readonly kubeletCertificateFile?: string | undefined;
  readonly kubeletKeyFile?: string | undefined;
}

/** The node we are on, or the one whose root is somewhere else. */
export function openLiveNode(access: NodeAccess): LiveNode {
  const { hostRoot } = access;
  return new LiveNode(ownCommand('reader'), {
    ...access,
    hostRoot: hostRoot === '/' ? '/' : hostRoot.replace(/\/+$/, ''),
  });
}
