/**
 * The order of names as bytes, in which Go and the C library sort them. UTF-16, in which we keep
 * text, has another one beyond U+D800; and a byte that is no UTF-8 is a lone surrogate here
 * (0xff is U+DCFF), which must count as that byte.
 */
export function bytewiseSorted(names: readonly string[]): readonly string[] {
  return names
    .map((name) => ({ name, key: byteKey(name) }))
    .toSorted((left, right) => (left.key < right.key ? -1 : left.key > right.key ? 1 : 0))
    .map(({ name }) => name);
}

export function isBytewiseAfter(name: string, other: string): boolean {
  return byteKey(name) > byteKey(other);
}

// Names of plain ASCII are their own key.
const ASCII = /^[\0-\x7f]*$/;

/** One character for each byte. */
export function byteKey(name: string): string {
  if (ASCII.test(name)) return name;
  // By code points: a lone surrogate is one of its own.
  return Array.from(name, (character) => bytesOf(character.codePointAt(0) ?? 0)).join('');
}

const ESCAPE = 0xdc00;

function bytesOf(code: number): string {
  if (code < 0x80) return String.fromCharCode(code);
  if (code < 0x800) return String.fromCharCode(0xc0 | (code >> 6), tail(code));
  if (code >= ESCAPE + 0x80 && code <= ESCAPE + 0xff) return String.fromCharCode(code - ESCAPE);
  if (code < 0x10000) {
    return String.fromCharCode(0xe0 | (code >> 12), tail(code >> 6), tail(code));
  }
  const head = 0xf0 | (code >> 18);
  return String.fromCharCode(head, tail(code >> 12), tail(code >> 6), tail(code));
}

function tail(code: number): number {
  return 0x80 | (code & 0x3f);
}
