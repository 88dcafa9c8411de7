/** What a quick reader is asked: paths of the node. */
export interface QuickQuestion {
  /** Names below directories, as a shell expands a pattern. */
  readonly names: readonly NamePattern[];
  /** Small files. */
  readonly files: readonly string[];
  /** Ends of logs. */
  readonly logs: readonly LogPart[];
}

export interface NamePattern {
  readonly folder: string;
  /** Not a path of a mount point, which may be dead: "*\/volumes/*\/*.deleting~*". */
  readonly pattern: string;
}

/** The end of a log. Never a part by its begin: a `tail` may read all that is before it. */
export interface LogPart {
  readonly path: string;
  readonly lastBytes: number;
}

/** One text for each part of the question, in its order; empty for what could not be read. */
export interface QuickAnswer {
  readonly names: readonly string[];
  readonly files: readonly string[];
  readonly logs: readonly string[];
}

/**
 * Reads a few paths of the node for much less than a reader costs, and says less: not why a read has
 * failed. So it may decide when to check, and never what is found.
 */
export interface QuickReader {
  /** Undefined if no answer comes in time, as when a path hangs. */
  ask(question: QuickQuestion): Promise<QuickAnswer | undefined>;
}
