import type { PracticeNode } from './practice-node.ts';

/** Starts what makes a node of empty namespaces: its runtime, its kubelet, and the healthy pods. */
export async function furnish(node: PracticeNode): Promise<void> {
  await node.run('true');
}
