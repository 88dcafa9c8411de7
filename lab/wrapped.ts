/** A text in lines of so many columns, broken at these places; what is longer has a line of its own. */
export function wrapped(text: string, width: number, at: string | RegExp = ' '): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(at)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else lines.push(word);
  }
  return lines;
}
