/** Bytes as text, without a module of any platform. What is no UTF-8 becomes U+FFFD. */
export function textOfBytes(bytes: Uint8Array, start = 0, end = bytes.length): string {
  for (let at = start; at < end; at += 1) {
    if ((bytes[at] ?? 0) >= 0x80) return decoded(bytes, start, end);
  }
  return ascii(bytes, start, end);
}

/** As many as a call takes as arguments on every platform. */
const CODES_AT_ONCE = 8_192;

function ascii(bytes: Uint8Array, start: number, end: number): string {
  let text = '';
  for (let at = start; at < end; at += CODES_AT_ONCE) {
    text += String.fromCharCode(...bytes.subarray(at, Math.min(end, at + CODES_AT_ONCE)));
  }
  return text;
}

function decoded(bytes: Uint8Array, start: number, end: number): string {
  let text = '';
  let at = start;
  while (at < end) {
    const first = bytes[at] ?? 0;
    const more = first < 0x80 ? 0 : first < 0xc2 ? -1 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    let code = more <= 0 ? first : first & (0x3f >> more);
    let taken = 0;
    while (taken < more && at + taken + 1 < end && ((bytes[at + taken + 1] ?? 0) & 0xc0) === 0x80) {
      taken += 1;
      code = (code << 6) | ((bytes[at + taken] ?? 0) & 0x3f);
    }
    const isWhole = more === taken && code >= (FIRST_CODE[taken] ?? 0) && code <= 0x10ffff;
    text += isWhole && !isSurrogate(code) ? String.fromCodePoint(code) : '\ufffd';
    at += taken + 1;
  }
  return text;
}

/** The first code that needs so many further bytes; a smaller one written that long is malformed. */
const FIRST_CODE = [0, 0x80, 0x800, 0x10000];

function isSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdfff;
}

/** Text as bytes. A lone surrogate, which stands for a byte that was no UTF-8, is that byte again. */
export function bytesOfText(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length * 3);
  let length = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.codePointAt(at) ?? 0;
    if (code < 0x80) {
      bytes[length++] = code;
    } else if (code >= 0xdc80 && code <= 0xdcff) {
      bytes[length++] = code - 0xdc00;
    } else {
      const more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
      bytes[length++] = ((0xff << (7 - more)) & 0xff) | (code >> (6 * more));
      for (let left = more - 1; left >= 0; left -= 1) {
        bytes[length++] = 0x80 | ((code >> (6 * left)) & 0x3f);
      }
      if (more === 3) at += 1;
    }
  }
  return bytes.subarray(0, length);
}
