/** Of a pattern, as it is written. Those that people write have a few dozen characters. */
export const PATTERN_CHARACTERS_MAX = 1_024;

/**
 * Steps into which a pattern is compiled: "a{900}" has 900 of them. A text costs at most its length
 * times this, so the slowest comparison that can be made up takes about a tenth of a second.
 */
export const PATTERN_STEPS_MAX = 2_000;

/** Of one text that came with an alert: a label, a description. */
export const TEXT_CHARACTERS_MAX = 16_384;

/** Alerts in one request. Prometheus sends 256 at once, unless it is told otherwise. */
export const ALERTS_MAX = 1_000;

/** What of a name is taken into the name of a Diagnosis, which may have 253 in all. */
export const NAME_PART_CHARACTERS_MAX = 180;

/** Ten days, as every KubeDiag keeps what has ended. Nobody applied it, so nobody would delete it. */
export const KEPT_SECONDS = 864_000;
