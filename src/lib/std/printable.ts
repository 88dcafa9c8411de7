/**
 * Text from a node may contain characters that move the cursor of a terminal or change its colours:
 * they are shown as escapes.
 */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => {
    if (character === '\n' || character === '\t') return ' ';
    const code = character.codePointAt(0) ?? 0;
    const byte = code >= 0xdc80 && code <= 0xdcff ? code - 0xdc00 : code;
    return `\\x${byte.toString(16).padStart(2, '0')}`;
  });
}

/**
 * Control characters, lone surrogates, line separators, two code points that are no characters, and all
 * that is not seen but changes what is: marks that turn the direction of writing, soft hyphens, joiners
 * and spaces of no width.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\ufffe\uffff]/gu;
