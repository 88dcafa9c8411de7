/** A bundle, unpacked. Larger than any sane node, small enough to read in memory. */
export const BUNDLE_BYTES_MAX = 256 * 1024 * 1024;

/** Files of a bundle in a directory. Each is a long answer, and a check gets a few dozen of those. */
export const BUNDLE_FILES_MAX = 10_000;

/** Answers in a bundle; a check of a large node asks some ten thousand questions. */
export const BUNDLE_ANSWERS_MAX = 100_000;

/** Values in all answers of a bundle together: names, numbers, lists. Each takes up to 100 bytes. */
export const BUNDLE_VALUES_MAX = 5_000_000;

/** Longer texts get a file of their own in a bundle. */
export const INLINE_CHARACTERS_MAX = 16 * 1024;
