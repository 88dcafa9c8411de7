import type { Terminal } from '../../../lib/terminal/terminal.ts';
import { wrapText } from '../../../lib/terminal/wrap.ts';
import type { openNode } from '../input/open-node.ts';

/** Reports readers that still wait on a path. Called after the node was closed. */
export async function reportAbandoned(
  node: Pick<ReturnType<typeof openNode>, 'leftBehind'>,
  terminal: Terminal,
): Promise<void> {
  for (const { pid, source } of await node.leftBehind()) {
    const what =
      `abandoned: reader process ${pid} still waits for an answer, and exits when it gets one: ` +
      source;
    terminal.err(`${wrapText(what, terminal.errWidth - 2).join('\n  ')}\n`);
  }
}
