import { bytesOf } from './text-codec.ts';

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

// An ASCII name is its own key.
const ASCII = /^[\0-\x7f]*$/;

/** One character for each byte. */
export function byteKey(name: string): string {
  if (ASCII.test(name)) return name;
  return Array.from(bytesOf(name), (byte) => String.fromCharCode(byte)).join('');
}
