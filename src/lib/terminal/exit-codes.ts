/** Stable and documented: scripts rely on them. */
export const EXIT = {
  clear: 0,
  found: 1,
  unknown: 2,
  notDone: 3,
  usage: 64,
} as const;

/** What each code means, for the help and the reference. */
export const EXIT_MEANINGS: Readonly<Record<number, string>> = {
  0: 'clear, or nothing is left to repair',
  1: 'a fault was found, or is left',
  2: 'unknown, and nothing was found',
  3: 'refused, or failed to act',
  64: 'wrong usage',
  70: 'a defect of kubediag itself',
};
