const OCTAL_DIGITS = 3;
const ASCII_MAX = 0o177;

/**
 * A path out of a table of the kernel, which writes a space as \040 and a backslash as \134: decoded
 * once, never twice.
 */
export function unescapeOctal(path: string): string {
  let plain = '';
  let start = 0;
  for (let at = path.indexOf('\\'); at >= 0; at = path.indexOf('\\', at + 1)) {
    const code = octalAt(path, at + 1);
    if (code === undefined) continue;
    plain += path.slice(start, at) + String.fromCharCode(code);
    start = at + 1 + OCTAL_DIGITS;
  }
  return start === 0 ? path : plain + path.slice(start);
}

/** The character that three octal digits stand for; the kernel escapes none beyond ASCII. */
function octalAt(path: string, start: number): number | undefined {
  let code = 0;
  for (let at = start; at < start + OCTAL_DIGITS; at += 1) {
    const digit = path.charCodeAt(at) - 48;
    // What is not a digit, as beyond the end, is neither below nor above.
    if (!(digit >= 0 && digit <= 7)) return undefined;
    code = code * 8 + digit;
  }
  return code <= ASCII_MAX ? code : undefined;
}
