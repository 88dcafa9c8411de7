/** A Kubernetes object has at most 1.5 MB, and a manifest may hold several. */
export const MANIFEST_BYTES_MAX = 32 * 1024 * 1024;
export const MANIFEST_FILES_MAX = 2_000;

/** YAML aliases in one document: more would only exhaust memory. */
export const YAML_ALIASES_MAX = 1_000;

/** Syntax errors in one manifest; a file with more is not a manifest. */
export const YAML_ERRORS_MAX = 100;

/** More than a person reads; programs get all. */
export const PROBLEMS_SHOWN_MAX = 200;

/** Responses of the agent: 10,000 Diagnoses as JSON have some tens of megabytes. */
export const ANSWER_BYTES_MAX = 512 * 1024 * 1024;
export const ANSWER_MS = 60_000;

/** A token and an address are one line each. */
export const TOKEN_BYTES_MAX = 1_024;

/** After this silence of the input a hint is printed: a person may not know that we wait for it. */
export const INPUT_WAIT_MS = 2_000;

/** How much of the end of a large log is read: some days of a verbose kubelet. */
export const LOG_END_BYTES = 128 * 1024 * 1024;

/** A shorter end of a log is not worth judging. */
export const LOG_END_BYTES_MIN = 1024 * 1024;

/** Unpacked size of a compressed log: only its end is used, but all of it must be unpacked. */
export const UNPACKED_BYTES_MAX = 4 * 1024 * 1024 * 1024;

/** A slow machine under load needs a minute for that. */
export const UNPACK_MS_MAX = 120_000;

/** A template file of `-o`. */
export const TEMPLATE_BYTES_MAX = 1024 * 1024;

/** A shell waits for a completion while a person types; an agent answers in a tenth of this. */
export const COMPLETION_MS = 1_000;
