import { printable } from '../std/printable.ts';

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
