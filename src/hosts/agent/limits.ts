/** A token has 43 characters; a file of more is something else. */
export const TOKEN_BYTES_MAX = 1_024;

/** How long the kubelet may take to say how it calls this node. */
export const NAME_MS = 10_000;

/** How soon it is asked again: within the minute that a Diagnosis waits for its node. */
export const NAME_AGAIN_MS = 30_000;

/** Processors that are run for others at once. Each takes a look at the node of its own. */
export const PROCESSORS_MAX = 4;

/** Operations whose time is counted by name; who makes more of them is counted together. */
export const OPERATIONS_COUNTED_MAX = 500;

/** Requests with alerts that wait for their turn; each may hold some megabytes. */
export const INTAKES_WAITING_MAX = 8;

/** For all alerts of a request: Prometheus waits no longer for an answer. */
export const INTAKE_MS = 10_000;

/** Diagnoses that Triggers may make within a repeat interval: a storm of alerts is no work for a node. */
export const TRIGGERED_MAX = 1_000;

/** How long may be looked for what became of a deed that a crash left open. */
export const EARLIER_ACTIONS_MS = 60_000;
