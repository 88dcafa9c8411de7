import { isSea } from 'node:sea';
import { takeSnapshot } from '../../node/checkup/take-snapshot.ts';
import { kubelet } from '../../node/evidence/kubelet/kubelet.ts';
import { attempt, type SnapshotOptions } from '../../node/model/evidence.ts';
import { LiveNode } from '../../node/reader/live-node.ts';
import type { OwnCommand } from '../../node/reader/reader-process.ts';

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

/** This very program, by the kernel's own link to it: its file may be gone or replaced by now. */
export function ownCommand(word: 'reader' | 'remover' | 'symbols' | 'tracer'): OwnCommand {
  const script = isSea() ? [] : [process.argv[1] ?? ''];
  return { program: '/proc/self/exe', arguments: [...script, word] };
}

/** As the kubelet calls this node; undefined where there is none that says it in time. */
export async function nodeNameOf(
  { access, settings }: { readonly access: NodeAccess; readonly settings: SnapshotOptions },
  timeoutMs: number,
): Promise<string | undefined> {
  const node = openLiveNode(access);
  const timer = setTimeout(() => node.endCheck('the time limit was reached'), timeoutMs);
  const found = await attempt(takeSnapshot(node, settings).of(kubelet));
  clearTimeout(timer);
  node.close();
  return found.known ? found.value.nodeName : undefined;
}
