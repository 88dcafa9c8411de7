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

/** Input that is silent for so long is told of: a person may not know that we wait for it. */
export const INPUT_WAIT_MS = 2_000;

/** Of a log that is too large, this much of its end: some days of a kubelet that says much. */
export const LOG_END_BYTES = 128 * 1024 * 1024;

/** A shorter end of a log is not worth to be judged. */
export const LOG_END_BYTES_MIN = 1024 * 1024;

/** What a packed log may have, unpacked: only its end is kept, but all of it must be unpacked. */
export const UNPACKED_BYTES_MAX = 4 * 1024 * 1024 * 1024;

/** For that, a slow machine under load needs a minute. */
export const UNPACK_MS_MAX = 120_000;

/** A template of `-o` in a file: a page of text at most. */
export const TEMPLATE_BYTES_MAX = 1024 * 1024;

/** A shell waits for it while somebody types: an agent on this node answers in a tenth of that. */
export const COMPLETION_MS = 1_000;
