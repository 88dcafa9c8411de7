/** A text that somebody sent, all of one kind, with what it lists where it is a listing. */
export interface LooseText {
  readonly text: string;
  /** All of the file that it stands in. */
  readonly whole: string;
  readonly paths: readonly string[];
  /** Names without a path. */
  readonly names: readonly string[];
}

/**
 * What makes a loose text suspicious where it is no evidence. A function says what the text shows and
 * what it does not: "lists a~1, but not in which folder".
 */
export interface Suspicions {
  /** Signatures that only a node with the fault has in its log, here quoted outside of a log. */
  readonly quoted?: readonly string[];
  readonly task?: (loose: LooseText) => string | undefined;
  readonly 'plain-mounts'?: (loose: LooseText) => string | undefined;
  readonly listing?: (loose: LooseText) => string | undefined;
}
