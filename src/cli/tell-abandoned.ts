import type { openNode } from './open-node.ts';
import type { Terminal } from './terminal.ts';

/** Nothing we started outlives its limit unnoticed. Called when the node was let go. */
export async function tellAbandoned(
  node: Pick<ReturnType<typeof openNode>, 'leftBehind'>,
  terminal: Terminal,
): Promise<void> {
  for (const { pid, source } of await node.leftBehind()) {
    terminal.err(
      `left behind: reader process ${pid} waits for ${source}, which does not answer; ` +
        'it ends by itself when that does\n',
    );
  }
}
