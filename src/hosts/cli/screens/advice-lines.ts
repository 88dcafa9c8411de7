import { printable } from '../../../lib/std/printable.ts';
import { wrapText } from '../../../lib/terminal/wrap.ts';
import type { Step } from '../../../node/model/finding.ts';

/** Wraps sentences. A command is neither wrapped nor shortened, so that it can be copied. */
export function adviceLines(
  steps: readonly Step[],
  width: number,
  isAlternative = false,
): readonly string[] {
  const lead = isAlternative ? 'or: ' : '';
  return steps.flatMap(({ text, command }) => {
    if (text === undefined) return [printable(`${lead}${command}`)];
    const sentence = wrapText(`${lead}${text}`, width);
    return command === undefined ? sentence : [...sentence, printable(command)];
  });
}
