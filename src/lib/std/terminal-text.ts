import { printable } from './printable.ts';

/**
 * Text that is safe on a terminal, whatever a pod has put into it: beside line breaks and tabs,
 * everything that would act on the terminal is shown by its number.
 */
export function terminalText(text: string): string {
  return text.replace(ACTIVE, printable);
}

/** The same of a screen of ours, whose own styles pass. What others wrote in it is escaped before. */
export function styledText(text: string): string {
  return text.replace(STYLE_OR_ACTIVE, (found) => (found.length > 2 ? found : printable(found)));
}

// "\x1b", "\u202e"
const ACTIVE = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
// "\x1b[1m", "\x1b[31m": bold, dim, red, green, yellow, and their ends
const STYLE_OR_ACTIVE = new RegExp(`\\x1b\\[(?:1|2|22|31|32|33|39)m|${ACTIVE.source}`, 'gu');
