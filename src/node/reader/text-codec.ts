import { isUtf8 } from 'node:buffer';

/**
 * File names and file contents are bytes, not text. A byte that is no UTF-8 becomes a lone
 * surrogate (0xff is U+DCFF), so that two different names never look alike, and every text can be
 * turned back into its bytes.
 */
export function textOf(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  // Piece by piece would take a hundred times the memory when a file is all binary.
  const units = Buffer.allocUnsafe(bytes.length * 2);
  let end = 0;
  const write = (unit: number) => {
    units[end] = unit & 0xff;
    units[end + 1] = unit >> 8;
    end += 2;
  };
  for (let at = 0; at < bytes.length; ) {
    const code = characterAt(bytes, at);
    if (code === undefined) {
      write(ESCAPE + (bytes[at] ?? 0));
      at += 1;
    } else if (code > 0xffff) {
      write(0xd800 + ((code - 0x10000) >> 10));
      write(0xdc00 + ((code - 0x10000) & 0x3ff));
      at += 4;
    } else {
      write(code);
      at += code < 0x80 ? 1 : code < 0x800 ? 2 : 3;
    }
  }
  return units.toString('utf16le', 0, end);
}

export function bytesOf(text: string): Buffer {
  if (text.isWellFormed()) return Buffer.from(text, 'utf8');
  const bytes = Buffer.allocUnsafe(text.length * 3);
  let end = 0;
  let start = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < 0xd800 || unit > 0xdfff) continue;
    if (unit < 0xdc00 && isLow(text.charCodeAt(at + 1))) {
      at += 1; // Two halves of one character.
    } else if (unit >= ESCAPE + 0x80 && unit <= ESCAPE + 0xff) {
      end += bytes.write(text.slice(start, at), end, 'utf8');
      bytes[end] = unit - ESCAPE;
      end += 1;
      start = at + 1;
    }
  }
  end += bytes.write(text.slice(start), end, 'utf8');
  return bytes.subarray(0, end);
}

const ESCAPE = 0xdc00;

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** The character that begins at this place; undefined when these bytes are none. */
function characterAt(bytes: Buffer, at: number): number | undefined {
  const lead = bytes[at] ?? 0;
  if (lead < 0x80) return lead;
  const more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
  let code = lead & (0x3f >> more);
  for (let next = at + 1; next <= at + more; next += 1) {
    const byte = bytes[next] ?? 0;
    if ((byte & 0xc0) !== 0x80) return undefined;
    code = (code << 6) | (byte & 0x3f);
  }
  const least = more === 1 ? 0x80 : more === 2 ? 0x800 : 0x10000;
  const isSurrogate = code >= 0xd800 && code <= 0xdfff;
  return lead < 0xc2 || lead > 0xf4 || code < least || code > 0x10ffff || isSurrogate
    ? undefined
    : code;
}
