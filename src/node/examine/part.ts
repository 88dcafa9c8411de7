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
