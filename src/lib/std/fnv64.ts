const OFFSET = 0xcbf29ce484222325n;
const PRIME = 0x100000001b3n;

/** The 64-bit FNV-1a hash of numbers, usually bytes. */
export function fnv64(codes: Iterable<number>): bigint {
  let hash = OFFSET;
  for (const code of codes) hash = BigInt.asUintN(64, (hash ^ BigInt(code)) * PRIME);
  return hash;
}
