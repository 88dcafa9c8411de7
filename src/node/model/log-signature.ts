/** A message that a program logs on a certain event. */
export interface Signature {
  /**
   * Every such line contains one of these strings, of at least ten characters. They find the line
   * quickly.
   */
  readonly literals: readonly string[];
  /**
   * The patterns of the line, in which every quote is unescaped. The first pattern that matches
   * counts, and its named groups are the fields. The wording changes between versions, so a pattern
   * must not depend on the source file and line, nor on the order of "name=value". A line may quote
   * other programs: a pattern that can begin anywhere must only match a short text.
   */
  readonly patterns: readonly RegExp[];
  /** The line may quote messages of other programs, which a bundle must not contain. */
  readonly isWordy?: boolean;
}

/** A signature with its name and the log that contains it. */
export interface LogSignature extends Signature {
  readonly id: string;
  readonly log: 'kubelet' | 'kernel';
  /** A line as the program writes it. A test compares it with the patterns. */
  readonly example?: string;
}

/**
 * Creates a signature from its literals and its patterns. Each pattern stands below a line that it
 * matches.
 */
export function signature(literals: readonly string[], ...patterns: readonly RegExp[]): Signature {
  return { literals, patterns };
}
