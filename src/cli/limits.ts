/** A manifest: an object of Kubernetes has 1.5 MB at most, and a file may hold several. */
export const MANIFEST_BYTES_MAX = 32 * 1024 * 1024;
export const MANIFEST_FILES_MAX = 2_000;

/** Places in one YAML document that stand for another: more are there to use up memory. */
export const YAML_ALIASES_MAX = 1_000;

/** Errors of form in one manifest; where there are more, it is something else. */
export const YAML_ERRORS_MAX = 100;

/** More than anybody reads; programs get all that are listed. */
export const PROBLEMS_SHOWN_MAX = 200;

/** Of the agent: a store of 10,000 Diagnoses as JSON has some tens of megabytes. */
export const ANSWER_BYTES_MAX = 512 * 1024 * 1024;
export const ANSWER_MS = 60_000;

/** A token and an address are one line each. */
export const TOKEN_BYTES_MAX = 1_024;
