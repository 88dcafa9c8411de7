/** Levels of JSON: Kubernetes objects have a dozen, the container info of a runtime two dozen. */
export const JSON_DEPTH_MAX = 100;

/** Values in one JSON text: a list of 5,000 pods has 2 million. Each takes up to 100 bytes. */
export const JSON_VALUES_MAX = 5_000_000;

/** Equal messages within this time are logged once. */
export const LOG_REPEAT_MS = 60_000;
export const LOG_REPEATS_MAX = 100;
