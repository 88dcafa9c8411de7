import { printable } from '../../../lib/std/printable.ts';
import { wrapText } from '../../../lib/terminal/wrap.ts';
import { isSentence, leadsToCommand } from '../../../node/model/advice.ts';

/** Wraps sentences. A command is neither wrapped nor shortened, so that it can be copied. */
export function adviceLines(
  cures: readonly string[],
  width: number,
  isAlternative = false,
): readonly string[] {
  return cures.flatMap((cure, at) => {
    const goesOn = leadsToCommand(cures[at - 1] ?? '');
    const text = isAlternative && !goesOn ? `or: ${cure}` : cure;
    return isSentence(cure) ? wrapText(text, width) : [printable(text)];
  });
}
