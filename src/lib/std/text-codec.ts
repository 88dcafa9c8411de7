/**
 * File names and file contents are bytes, not text. A byte that is not UTF-8 becomes a lone surrogate
 * (0xff is U+DCFF), so that two different names never look alike, and every text can be turned back
 * into its bytes.
 */
export function textOf(bytes: Uint8Array): string {
  const text = UTF8.decode(bytes);
  return text.includes(REPLACEMENT) ? escapedText(bytes) : text;
}

const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true });
/** What the decoder puts in the place of bytes that are not UTF-8. */
const REPLACEMENT = '\ufffd';
const ESCAPE = 0xdc00;
/** Arguments of one call of String.fromCharCode; engines allow some ten thousand. */
const UNITS_PER_CALL = 8192;

function escapedText(bytes: Uint8Array): string {
  // Piece by piece would take a hundred times the memory when a file is all binary.
  const units = new Uint16Array(bytes.length);
  let end = 0;
  for (let at = 0; at < bytes.length; ) {
    const code = characterAt(bytes, at);
    if (code === undefined) {
      units[end++] = ESCAPE + (bytes[at] ?? 0);
      at += 1;
    } else if (code > 0xffff) {
      units[end++] = 0xd800 + ((code - 0x10000) >> 10);
      units[end++] = 0xdc00 + ((code - 0x10000) & 0x3ff);
      at += 4;
    } else {
      units[end++] = code;
      at += code < 0x80 ? 1 : code < 0x800 ? 2 : 3;
    }
  }
  const pieces: string[] = [];
  for (let at = 0; at < end; at += UNITS_PER_CALL) {
    pieces.push(String.fromCharCode(...units.subarray(at, Math.min(at + UNITS_PER_CALL, end))));
  }
  return pieces.join('');
}

export function bytesOf(text: string): Uint8Array {
  const encoder = new TextEncoder();
  if (text.isWellFormed()) return encoder.encode(text);
  const bytes = new Uint8Array(text.length * 3);
  let end = 0;
  let start = 0;
  const encode = (stop: number) => {
    end += encoder.encodeInto(text.slice(start, stop), bytes.subarray(end)).written;
  };
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < 0xd800 || unit > 0xdfff) continue;
    if (unit < 0xdc00 && isLow(text.charCodeAt(at + 1))) {
      at += 1; // Two halves of one character.
    } else if (unit >= ESCAPE + 0x80 && unit <= ESCAPE + 0xff) {
      encode(at);
      bytes[end] = unit - ESCAPE;
      end += 1;
      start = at + 1;
    }
  }
  encode(text.length);
  return bytes.subarray(0, end);
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** The character that begins at this place; undefined when these bytes are none. */
function characterAt(bytes: Uint8Array, at: number): number | undefined {
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
