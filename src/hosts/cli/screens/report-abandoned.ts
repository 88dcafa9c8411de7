import type { Terminal } from '../../../lib/terminal/terminal.ts';
import { wrapText } from '../../../lib/terminal/wrap.ts';
import type { openNode } from '../input/open-node.ts';

/** Nothing we started outlives its limit unnoticed. Called when the node was let go. */
export async function reportAbandoned(
  node: Pick<ReturnType<typeof openNode>, 'leftBehind'>,
  terminal: Terminal,
): Promise<void> {
  for (const { pid, source } of await node.leftBehind()) {
    const what =
      `left behind: reader process ${pid} waits for an answer, and ends by itself when it gets ` +
      `one: ${source}`;
    terminal.err(`${wrapText(what, terminal.errWidth - 2).join('\n  ')}\n`);
  }
}
