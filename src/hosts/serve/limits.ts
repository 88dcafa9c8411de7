/** A token has 43 characters. */
export const TOKEN_BYTES_MAX = 1_024;

/** Time limit for asking the kubelet for the node name. */
export const NAME_MS = 10_000;

/** Until the kubelet is asked again: within the minute that a Diagnosis waits for its node. */
export const NAME_AGAIN_MS = 30_000;

/** Processors that run for other programs at once. Each checks the node itself. */
export const PROCESSORS_MAX = 4;

/** Requests with alerts that wait; each may have some megabytes. */
export const INTAKES_WAITING_MAX = 8;

/** For all alerts of a request: Prometheus waits no longer for a response. */
export const INTAKE_MS = 10_000;

/** Diagnoses that Triggers may create within a repeat interval: a storm of alerts must not load a node. */
export const TRIGGERED_MAX = 1_000;
