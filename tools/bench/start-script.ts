import { join } from 'node:path';
import type { PracticeNode } from '../../test/rig/practice-node.ts';

const PROJECT = join(import.meta.dirname, '../..');

/** Starts one of our scripts on the node and waits until it says that it is ready. */
export async function startScript(
  node: PracticeNode,
  script: string,
  ...args: readonly string[]
): Promise<void> {
  await node.startHere([process.execPath, join(PROJECT, script), ...args]).hasSaid('ready');
}
