/** Of status.paths as JSON: an object in etcd has 1.5 MB, and a Diagnosis may list all paths as failed. */
export const PATHS_BYTES_MAX = 512 * 1024;

/**
 * Steps in a status and their messages: one, all together, and the minimum for each after that.
 * Together at most about 400 KB.
 */
export const STEPS_LISTED_MAX = 1_000;
export const STEP_MESSAGE_CHARACTERS_MAX = 4 * 1024;
export const STEP_MESSAGES_CHARACTERS_MAX = 96 * 1024;
export const STEP_MESSAGE_CHARACTERS_MIN = 128;

/** Of a condition that says at which step a Diagnosis has failed. */
export const FAILURE_CHARACTERS_MAX = 512;

/** How long a missing OperationSet, Operation or node is waited for: manifests are applied one by one. */
export const ARRIVAL_MS = 60_000;

/** Listed cycles of a graph: each may name all nodes, and there may be as many as edges. */
export const CYCLES_LISTED_MAX = 20;

/** Nodes that are listed by name as not diagnosed; the others are counted. */
export const LEFT_OUT_NAMED_MAX = 20;
