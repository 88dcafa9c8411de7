import { EXIT } from '../../../lib/terminal/exit-codes.ts';
import type { Terminal } from '../../../lib/terminal/terminal.ts';
import { UsageError } from '../../../lib/terminal/usage-error.ts';
import { wrapText } from '../../../lib/terminal/wrap.ts';

/** The lab, as `main` hands it to the command line, which must not reach it by itself. */
export type Lab = (
  command: string,
  args: readonly string[],
  options: object,
  terminal: Terminal,
) => Promise<
  | { readonly kind: 'ended'; readonly code: number }
  | {
      readonly kind: 'refused';
      readonly what: string;
      readonly why: string;
      readonly todo: string;
    }
  | { readonly kind: 'wrong-words'; readonly message: string }
>;

const PAGE_COLUMNS = 80;
/** "  why   " */
const LABEL_COLUMNS = 8;

/** `kubediag lab COMMAND`. */
export async function practise(
  lab: Lab,
  command: string,
  args: readonly string[],
  options: object,
  terminal: Terminal,
): Promise<number> {
  // It draws lines from one end to the other, so it wants an end.
  const width = Number.isFinite(terminal.width) ? terminal.width : PAGE_COLUMNS;
  const end = await lab(command, args, options, { ...terminal, width });
  if (end.kind === 'ended') return end.code;
  if (end.kind === 'wrong-words') throw new UsageError(end.message);
  const part = (label: string, text: string) =>
    wrapText(text, terminal.errWidth - LABEL_COLUMNS)
      .map((line, at) => `  ${(at === 0 ? label : '').padEnd(LABEL_COLUMNS - 2)}${line}\n`)
      .join('');
  terminal.err(`refused: ${end.what}\n${part('why', end.why)}${part('do', end.todo)}`);
  return EXIT.notDone;
}
