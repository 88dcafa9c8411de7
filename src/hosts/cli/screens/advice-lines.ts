import { printable } from '../../../lib/std/printable.ts';
import { wrapText } from '../../../lib/terminal/wrap.ts';
import { isSentence, leadsToCommand } from '../../../node/model/advice.ts';

/** Sentences are wrapped. A command never is, nor is it shortened: it is there to be copied. */
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
