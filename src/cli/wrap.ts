/** Breaks a sentence between its words; a word that is longer than a line breaks as a path does. */
export function wrapWords(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  const words = printable(text).split(/\s+/).filter(Boolean);
  for (const word of words.flatMap((each) => wrapQuote(each, width))) {
    if (line && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line ? `${line} ${word}` : word;
    }
  }
  return line ? [...lines, line] : lines;
}

/**
 * Breaks a line that was read from a node, without losing or adding a character: after a space or
 * a slash where it can, so that a path breaks between its parts.
 */
export function wrapQuote(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let rest = printable(text.trim());
  while (rest.length > width) {
    const head = rest.slice(0, width);
    const at = Math.max(head.lastIndexOf('/'), head.lastIndexOf(' ')) + 1;
    const cut = at > width / 3 ? at : width;
    lines.push(rest.slice(0, cut));
    rest = rest.slice(cut);
  }
  return rest ? [...lines, rest] : lines;
}

/**
 * What comes from a node may hold anything, also what would move a terminal's cursor or recolour
 * the screen: such characters are shown by their numbers.
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
 * Control characters, lone surrogates, line separators, and all that is not seen but changes what
 * is: marks that turn the direction of writing, soft hyphens, joiners and spaces of no width.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
