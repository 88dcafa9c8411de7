/** Of a pattern, as it is written. Those that people write have a few dozen characters. */
export const PATTERN_CHARACTERS_MAX = 1_024;

/** Steps into which a pattern is compiled: "a{900}" has 900 of them. */
export const PATTERN_STEPS_MAX = 2_000;

/**
 * Steps times characters, of all patterns of a Trigger and their texts: so much work is a comparison
 * at most, a quarter of a second. The usual ones, of twenty steps, may have the longest texts.
 */
export const COMPARISON_MAX = 2_000_000;

/** Patterns of one Trigger. */
export const PATTERNS_MAX = 100;

/** Of one text that came with an alert: a label, a description. */
export const TEXT_CHARACTERS_MAX = 16_384;

/** Alerts in one request. Prometheus sends 256 at once, unless it is told otherwise. */
export const ALERTS_MAX = 1_000;

/** What of a name is taken into the name of a Diagnosis, which may have 253 in all. */
export const NAME_PART_CHARACTERS_MAX = 180;

/** Ten days, as every KubeDiag keeps what has ended. Nobody applied it, so nobody would delete it. */
export const REPEAT_SECONDS = 864_000;
