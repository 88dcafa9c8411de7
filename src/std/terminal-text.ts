import { printable } from './printable.ts';

/**
 * Text that is safe on a terminal, whatever a pod has put into it: beside line breaks and tabs only
 * our own styles pass, everything else that would act on the terminal is shown by its number.
 */
export function terminalText(text: string): string {
  return text.replace(ACTIVE, (found) => (STYLE.test(found) ? found : printable(found)));
}

// "\x1b[1m", "\x1b[31m": bold, dim, red, green, yellow, and their ends
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what a terminal is told.
const STYLE = /^\x1b\[(?:1|2|22|31|32|33|39)m$/;
const ACTIVE = new RegExp(
  `${STYLE.source.slice(1, -1)}|(?![\\n\\t])[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}]`,
  'gu',
);
