import type { Explanation } from '../std/explanation.ts';
import { printable } from '../std/printable.ts';

/** Breaks a sentence between its words, at any white space. */
export function wrapText(text: string, width: number): readonly string[] {
  return wrapQuote(printable(text).split(/\s+/).join(' '), width);
}

/**
 * Breaks a line that was read from a node, at its spaces and nowhere else: an id or a path that is
 * longer than the line has a line of its own, so that it can be copied. `words` matches a gap and what
 * stays together behind it.
 */
export function wrapQuote(text: string, width: number, words = /( *)([^ ]+)/g): readonly string[] {
  const lines: string[] = [];
  for (const [, gap = '', word = ''] of printable(text.trim()).matchAll(words)) {
    const line = lines.at(-1);
    const fits = line !== undefined && line.length + gap.length + word.length <= width;
    if (fits) lines[lines.length - 1] = `${line}${gap}${word}`;
    else lines.push(word);
  }
  return lines;
}

/** Two texts at both ends of a line; side by side if the width is infinite. */
export function apart(left: string, right: string, width: number): string {
  return `${left}${gapBetween(left, right, width)}${right}`;
}

/** The spaces of `apart`, for texts that are styled before they are put together. */
export function gapBetween(left: string, right: string, width: number): string {
  const free = Number.isFinite(width) ? width - left.length - right.length : 0;
  return ' '.repeat(Math.max(2, free));
}

/** Lines with a label before the first line; the others are indented. */
export function labelled(
  label: string,
  lines: readonly string[],
  { columns = 6, indent = '  ' } = {},
): readonly string[] {
  return lines.map((line, at) => `${indent}${(at === 0 ? label : '').padEnd(columns)}${line}`);
}

/** The same for a sentence, wrapped so that the label fits too. */
export function labelledText(
  label: string,
  text: string,
  width: number,
  { columns = 6, indent = '  ' } = {},
): readonly string[] {
  return labelled(label, wrapText(text, width - indent.length - columns), { columns, indent });
}

/** What failed in the first line, then why, and what to do where that is known. */
export function explanationText(
  { what, why, todo }: Omit<Explanation, 'todo'> & Partial<Explanation>,
  width: number,
): string {
  const advice = todo === undefined ? [] : labelledText('do', todo, width);
  const lines = [what, ...labelledText('why', why, width), ...advice];
  return lines.map((line) => `${line}\n`).join('');
}
