import type { CollectedText } from './collected.ts';

/** A part of a file, all of one kind, with blank lines where the rest of the file is. */
export interface Part {
  readonly text: string;
  /** All of the file. */
  readonly whole: string;
  /** The file it stands in. */
  readonly name: string;
  readonly collected?: string;
  readonly extent: CollectedText['extent'];
}

/** A text that somebody sent, by the name that they know it by. */
export interface GivenFile {
  readonly name: string;
  readonly text: string;
  /** What it is, where that shows in its bytes and not in any text. */
  readonly detectedAs?: string;
  /** What was left out of it, in words, where only its end was read. */
  readonly cut?: string;
}

/** What a file was taken for: each kind of thing that stands in it, in words. */
export interface TakenFile {
  readonly name: string;
  /** Empty when nothing in it was recognised. */
  readonly detectedAs: readonly string[];
}
