/**
 * A path out of a table of the kernel, which writes a space as \040 and a backslash as \134: decoded
 * once, never twice. It escapes nothing beyond ASCII.
 */
export function unescapeOctal(path: string): string {
  // \040
  return path.replace(/\\([01][0-7]{2})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}
