import { isSea } from 'node:sea';
import { takeSnapshot } from '../../node/checkup/take-snapshot.ts';
import { kubelet } from '../../node/evidence/kubelet/kubelet.ts';
import { attempt, type SnapshotOptions } from '../../node/model/evidence.ts';
import type { NodeReader } from '../../node/model/node-reader.ts';
import { KernelTables } from '../../node/reader/kernel-tables.ts';
import { LiveNode } from '../../node/reader/live-node.ts';
import { LiveQuickReader } from '../../node/reader/live-quick-reader.ts';
import { inNodeNamespaces } from '../../node/reader/reader-namespaces.ts';
import type { OwnCommand } from '../../node/reader/reader-process.ts';

/** How to reach the node: the path of its root, and the credentials for its kubelet. */
export interface NodeAccess {
  readonly hostRoot: string;
  readonly kubeletTokenFile?: string | undefined;
  readonly kubeletCertificateFile?: string | undefined;
  readonly kubeletKeyFile?: string | undefined;
}

/** This node, or a node whose root is mounted at another path. */
export function openLiveNode(access: NodeAccess): LiveNode {
  const hostRoot = rootOf(access);
  return new LiveNode(inNodeNamespaces(ownCommand('reader'), hostRoot), { ...access, hostRoot });
}

/** The tables of this node that this process may read itself. */
export function openKernelTables(access: NodeAccess): NodeReader {
  return new KernelTables(rootOf(access));
}

/** Names and files of this node, read by a shell. */
export function openQuickReader(access: NodeAccess): LiveQuickReader {
  return new LiveQuickReader(rootOf(access));
}

function rootOf({ hostRoot }: NodeAccess): string {
  return hostRoot.replace(/\/+$/, '') || '/';
}

/** This program, by /proc/self/exe: its file may have been deleted or replaced since. */
export function ownCommand(word: 'reader' | 'remover' | 'symbols' | 'tracer'): OwnCommand {
  const script = isSea() ? [] : [process.argv[1] ?? ''];
  return { program: '/proc/self/exe', arguments: [...script, word] };
}

/** The node name of the kubelet; undefined if no kubelet answers in time. */
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
