/** Nodes of an OperationSet, including the start node. A rule of the API server visits each edge. */
export const NODES_MAX = 500;

/** Nobody waits a week for a step; a timer of Node is limited to 24 days. */
export const TIMEOUT_SECONDS_MAX = 604_800;
export const TIMEOUT_SECONDS_DEFAULT = 30;

/** A year: omit the field to retain a Diagnosis longer. */
export const RETENTION_SECONDS_MAX = 31_536_000;

/** Pairs in a map of strings. All of an object must fit into 1.5 MB of etcd in any case. */
export const PAIRS_MAX = 1_000;

/** Files of a function. */
export const CODE_FILES_MAX = 100;

/** Arguments of a script: they end up on a command line. */
export const ARGUMENTS_MAX = 256;

/** Retries after the first request: a server that is down for minutes does not return soon. */
export const RETRIES_MAX = 3;

/** A few hundred authorities; an Operation must fit into etcd with all the rest of it. */
export const CA_BUNDLE_CHARACTERS_MAX = 512 * 1024;

/** Nodes or pods that one Diagnosis names; for more there are selectors. */
export const TARGETS_MAX = 5_000;

/** What a Kubernetes object may be called. */
export const NAME_CHARACTERS_MAX = 253;

/** All values of metadata and spec, including lists and maps: 5,000 pod references have 20,000 values. */
export const VALUES_MAX = 50_000;

/** Problems of an object that are listed, and as many notes; the others are only counted. */
export const PROBLEMS_LISTED_MAX = 100;

/** Nesting depth of an object: a status has seven levels, a selector six. */
export const NESTING_MAX = 64;

/** A path with its query, and a schedule: longer values are mistakes. */
export const PATH_CHARACTERS_MAX = 2_048;
export const SCHEDULE_CHARACTERS_MAX = 256;

/** Of the text of a pattern (usual ones have a few dozen), and of the patterns of one Trigger. */
export const PATTERN_CHARACTERS_MAX = 1_024;
export const PATTERNS_MAX = 100;

/** The name of a plan is a hash. */
export const PLAN_CHARACTERS_MAX = 64;

/** A NodeReport: the worst findings, enough of their proof to act, and texts as long as most paths. */
export const REPORTED_FINDINGS_MAX = 10;
export const REPORTED_UNKNOWNS_MAX = 10;
export const REPORTED_PROOF_MAX = 3;
export const REPORTED_TEXT_MAX = 1_024;

/** Of a RecoveryPolicy: there is a Lease for each node that may be in recovery at once. */
export const CONCURRENT_NODES_MAX = 1_000;
export const NODES_IN_RECOVERY_LISTED_MAX = 1_000;
export const WINDOWS_MAX = 50;
export const FAULTS_NAMED_MAX = 200;
export const FAILURES_LISTED_MAX = 100;

/** Nodes that failed, in the status of a Diagnosis of several nodes; the others are only counted. */
export const FAILED_NODES_LISTED_MAX = 20;
