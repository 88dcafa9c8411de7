/** How a text begins that our collector wrote. */
const COLLECTED = '# kubediag-collector ';

/** How one ends that was read to its end: no deadline, no size and no number of lines cut it. */
const END = '\n# end\n';

/** What is known of how a text came to be. */
export interface CollectedText {
  /** The text itself, without the first and last line that our collector adds. */
  readonly text: string;
  /** What the collector asked for; undefined when it did not write this. */
  readonly collected?: string;
  /**
   * whole: the collector says that nothing is missing. cut: it does not say so, or the text ends in
   * the middle of a line. likely: no word of either.
   */
  readonly extent: 'whole' | 'likely' | 'cut';
}

/** Reads the first and the last line of a text. Line numbers stay those of the file. */
export function collectedText(given: string): CollectedText {
  if (!given.startsWith(COLLECTED)) {
    return { text: given, extent: given.endsWith('\n') ? 'likely' : 'cut' };
  }
  const newline = given.indexOf('\n');
  const headed = newline < 0 ? '' : given.slice(newline);
  // # kubediag-collector 2: cat /proc/812/mountinfo
  const collected = /^# kubediag-collector \d+: (.*)/.exec(given)?.[1] ?? '';
  if (!given.endsWith(END)) return { text: headed, collected, extent: 'cut' };
  return { text: headed.slice(0, -END.length), collected, extent: 'whole' };
}
