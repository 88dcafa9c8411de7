import { fnv64 } from './fnv64.ts';

/** A short and stable name for a text: the first digits of its 64-bit FNV-1a hash. */
export function shortHash(text: string, digits: number): string {
  const hash = fnv64(Array.from(text, (character) => character.codePointAt(0) ?? 0));
  return hash.toString(16).padStart(16, '0').slice(0, digits);
}
