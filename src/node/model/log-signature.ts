/** Something that a program writes to its log when a certain thing happens. */
export interface Signature {
  /** Every such line contains one of them. They find the line; at least ten characters. */
  readonly literals: readonly string[];
  /**
   * What the line must look like, with every quote bare. The first pattern that matches counts, and
   * its named groups are the fields. The wording changes from version to version, so a pattern relies
   * on what does not: never on the file and line of the source, nor on the order of "name=value".
   * A line may quote other programs: a pattern that can begin anywhere must not run far.
   */
  readonly patterns: readonly RegExp[];
  /** The line may quote messages of other programs, which a bundle must not contain. */
  readonly isWordy?: boolean;
}

/** A signature by its name, and whose log has it. */
export interface LogSignature extends Signature {
  readonly id: string;
  readonly log: 'kubelet' | 'kernel';
  /** A line as the program writes it, which a test compares with the patterns. */
  readonly example?: string;
}

/** A signature in short: its literals, then its patterns, each below a line that it matches. */
export function signature(literals: readonly string[], ...patterns: readonly RegExp[]): Signature {
  return { literals, patterns };
}
