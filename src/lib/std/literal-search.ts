/** Bits of the hash of three characters; a larger table would not fit into the cache. */
const HASH_BITS = 15;
const HASH_MASK = (1 << HASH_BITS) - 1;
const BLOCK = 3;

/**
 * Finds any of many literals in one pass over a text. It hashes the last three characters of a
 * window as long as the shortest literal: where no literal has these three, the whole window is
 * passed over. So a longer list costs almost nothing, and one very short literal costs much.
 */
export class LiteralSearch {
  readonly #literals: readonly string[];
  readonly #window: number;
  /** By the last three characters of a window: how far the next literal can be. */
  readonly #shifts: Uint8Array;
  /** By the same: the literals that may end their window here. */
  readonly #endings = new Map<number, number[]>();

  constructor(literals: readonly string[]) {
    const shortest = Math.min(...literals.map(({ length }) => length), SHIFT_MAX);
    if (shortest < BLOCK) throw new Error('a literal needs three characters');
    this.#literals = literals;
    this.#window = shortest;
    this.#shifts = new Uint8Array(HASH_MASK + 1).fill(shortest - BLOCK + 1);
    for (const [index, literal] of literals.entries()) this.#add(literal, index);
  }

  /** Reports every occurrence: the index of the literal, and where it starts. */
  find(text: string, onFound: (literal: number, at: number) => void): void {
    const shifts = this.#shifts;
    const before = this.#window - 1;
    for (let end = before; end < text.length; ) {
      const hash = hashAt(text, end);
      const shift = shifts[hash] as number;
      if (shift > 0) {
        end += shift;
        continue;
      }
      for (const index of this.#endings.get(hash) ?? []) {
        if (text.startsWith(this.#literals[index] as string, end - before)) {
          onFound(index, end - before);
        }
      }
      end += 1;
    }
  }

  #add(literal: string, index: number): void {
    const last = this.#window - 1;
    for (let end = BLOCK - 1; end <= last; end += 1) {
      const hash = hashAt(literal, end);
      this.#shifts[hash] = Math.min(this.#shifts[hash] as number, last - end);
    }
    const hash = hashAt(literal, last);
    this.#endings.set(hash, [...(this.#endings.get(hash) ?? []), index]);
  }
}

/** What one entry of the table of shifts can hold. */
const SHIFT_MAX = 255;

function hashAt(text: string, end: number): number {
  const [first, second] = [text.charCodeAt(end - 2), text.charCodeAt(end - 1)];
  return ((first << 10) ^ (second << 5) ^ text.charCodeAt(end)) & HASH_MASK;
}
