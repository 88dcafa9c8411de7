const FNV_OFFSET = 0xcbf29ce484222325n;
const FNV_PRIME = 0x100000001b3n;

/** A short name for a text, the same at every look: the first digits of its 64-bit FNV-1a hash. */
export function shortHash(text: string, digits = 8): string {
  let hash = FNV_OFFSET;
  for (const character of text) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(character.codePointAt(0) ?? 0)) * FNV_PRIME);
  }
  return hash.toString(16).padStart(16, '0').slice(0, digits);
}
