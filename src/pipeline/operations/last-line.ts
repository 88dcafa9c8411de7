/** The last line with anything in it, or nothing. A line ends with a line feed, a return, or both. */
export function lastLine(text: string): string {
  return (
    text
      .split(/[\r\n]+/)
      .findLast((line) => line.trim() !== '')
      ?.trim() ?? ''
  );
}
