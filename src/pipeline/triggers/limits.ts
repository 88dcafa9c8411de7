/** Instructions of a compiled pattern: "a{900}" has 900. */
export const PATTERN_STEPS_MAX = 2_000;

/**
 * Instructions times characters, for all patterns of a Trigger: about a quarter of a second for one
 * comparison. A usual pattern of twenty instructions can be compared with the longest texts.
 */
export const COMPARISON_MAX = 2_000_000;

/** Of one string in an alert, such as a label or a description. */
export const TEXT_CHARACTERS_MAX = 16_384;

/** Alerts in one request. Prometheus sends 256 at once by default. */
export const ALERTS_MAX = 1_000;

/** Of an alert's name in the name of a Diagnosis, which may have 253. */
export const NAME_PART_CHARACTERS_MAX = 180;

/** Ten days, as in every KubeDiag: a Diagnosis that nobody applied is deleted by nobody. */
export const TTL_SECONDS = 864_000;
