/** Of status.paths as JSON: an object of etcd has 1.5 MB, and a Diagnosis may repeat all paths as failed. */
export const PATHS_BYTES_MAX = 512 * 1024;

/**
 * Steps that a status lists, and their messages: one, all together, and what each has when the others
 * have used that up. Together at most some 400 KB.
 */
export const STEPS_LISTED_MAX = 1_000;
export const STEP_MESSAGE_CHARACTERS_MAX = 4 * 1024;
export const STEP_MESSAGES_CHARACTERS_MAX = 96 * 1024;
export const STEP_MESSAGE_CHARACTERS_MIN = 128;

/** How long an OperationSet, an Operation or a node may be missing: manifests are applied one after another. */
export const ARRIVAL_MS = 60_000;

/** Circles of a graph that are listed: each may name all its nodes, and they may be as many as its edges. */
export const CIRCLES_LISTED_MAX = 20;

/** Nodes or pods that are named where it is told that they are left out; of the others, how many. */
export const LEFT_OUT_NAMED_MAX = 20;
