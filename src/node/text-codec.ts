import { isUtf8 } from 'node:buffer';

/**
 * File names and file contents are bytes, not text. A byte that is no UTF-8 becomes a lone
 * surrogate (0xff is U+DCFF), so that two different names never look alike, and every text can be
 * turned back into its bytes.
 */
export function textOf(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  let text = '';
  let start = 0;
  for (let at = 0; at < bytes.length; ) {
    const length = characterLength(bytes, at);
    if (length === 0) {
      text += bytes.toString('utf8', start, at) + String.fromCharCode(0xdc00 + (bytes[at] ?? 0));
      start = at + 1;
    }
    at += Math.max(length, 1);
  }
  return text + bytes.toString('utf8', start);
}

export function bytesOf(text: string): Buffer {
  if (text.isWellFormed()) return Buffer.from(text, 'utf8');
  const parts: Buffer[] = [];
  for (const character of text) {
    const code = character.charCodeAt(0);
    const isEscape = character.length === 1 && code >= 0xdc80 && code <= 0xdcff;
    parts.push(isEscape ? Buffer.of(code - 0xdc00) : Buffer.from(character, 'utf8'));
  }
  return Buffer.concat(parts);
}

/** How many bytes the character at this place has; 0 when it is none. */
function characterLength(bytes: Buffer, at: number): number {
  const lead = bytes[at] ?? 0;
  if (lead < 0x80) return 1;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
  return length > 0 && isUtf8(bytes.subarray(at, at + length)) && at + length <= bytes.length
    ? length
    : 0;
}
