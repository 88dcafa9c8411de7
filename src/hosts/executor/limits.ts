/** A policy has a dozen lines. */
export const POLICY_BYTES_MAX = 64 * 1024;
export const POLICY_SERVERS_MAX = 100;

/** Nobody repairs a node so often; and the journal holds about as many actions. */
export const ACTIONS_PER_HOUR_MAX = 1_000;

/** For a policy without the field: the largest repair of our faults has a few dozen actions. */
export const ACTIONS_PER_HOUR_DEFAULT = 20;

/** Large results of all Diagnoses on this node: they share the disk of the kubelet. */
export const RESULTS_BYTES_MAX = 512 * 1024 * 1024;
export const RESULT_FILES_MAX = 10_000;

/** Steps at once with large results of earlier ones: each has 16 MiB, and several times that at work. */
export const LARGE_STEPS_MAX = 1;

/** Of a file that the agent fetches, in one message: the agent has several of them in little memory. */
export const CHUNK_BYTES_MAX = 128 * 1024;
